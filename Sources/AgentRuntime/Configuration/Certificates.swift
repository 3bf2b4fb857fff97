import AgentCore
import AgentWire
import Sealing

/// The private authorities that one reading has met: each file is read once, however many accounts name it.
struct Certificates {
  private let uid: UInt32
  private var digests: [String: Result<String, TrustedFile.Failure>] = [:]
  private var bytes = 0

  init(uid: UInt32) { self.uid = uid }

  /// The definition with its authority, its own or else `common`, that of `config.toml`. The file may change without the
  /// definition; the digest shows it. Unlike the proxy, which sees no secret, it is part of what a login is bound to.
  mutating func digested(
    _ definition: AccountDefinition, common: String?, line: (String) -> Int?
  ) -> Result<AccountDefinition, ConfigurationProblems> {
    var definition = definition
    let own = definition.certificateAuthorityFile
    guard let path = own ?? common else { return .success(definition) }
    definition.certificateAuthorityFile = path
    switch digest(path) {
    case .success(let digest):
      definition.certificateAuthorityDigest = digest
      return .success(definition)
    case .failure(let failure):
      let place = own == nil ? " (of config.toml)" : ""
      let reason = "\(PrintableText.escaped(path))\(place) \(failure.sentence)"
      return .failure(
        ConfigurationProblems([
          ConfigurationProblem(
            file: definition.file, line: line("ca_file"), key: "ca_file", reason: reason, hint: failure.remedy)
        ]))
    }
  }

  private mutating func digest(_ path: String) -> Result<String, TrustedFile.Failure> {
    if let known = digests[path] { return known }
    let result: Result<String, TrustedFile.Failure>
    if bytes + ConfigurationLimits.certificateBytes > ConfigurationLimits.certificatesBytes {
      let limit = ConfigurationLimits.certificatesBytes
      result = .failure(.refused("is not read: the authorities of all accounts have more than \(limit) bytes"))
    } else {
      do {
        let certificates = try TrustedFile.read(path, uid: uid, limitBytes: ConfigurationLimits.certificateBytes)
        bytes += certificates.count
        result = .success(Hex.encode(Digest.sha256(certificates)))
      } catch { result = .failure(error) }
    }
    digests[path] = result
    return result
  }
}
