import AgentCore
import AgentWire
import Sealing

/// The private authorities that one reading has met: each file is read once, however many accounts name it.
struct Certificates {
  private let files: ReadingAttempt
  /// `config.toml`.
  private let settingsFile: String
  /// Where that names its authority, once somebody has looked.
  private var settingsLine: Int??
  private var digests: [String: Result<String, TrustedFile.Failure>] = [:]
  private var bytes = 0

  init(files: ReadingAttempt, settingsFile: String) {
    self.files = files
    self.settingsFile = settingsFile
  }

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
      // Whoever was shown the text was shown these, too, and another authority is not what was agreed to.
      definition.textDigest = definition.textDigest.map { Hex.encode(Digest.sha256("\($0)\n\(digest)\n\(path)".utf8)) }
      return .success(definition)
    case .failure(let failure):
      // A fault of config.toml is told as that, whatever accounts it concerns.
      let isOwn = own != nil
      return .failure(
        ConfigurationProblems([
          ConfigurationProblem(
            file: isOwn ? definition.file : settingsFile, line: isOwn ? line("ca_file") : lineOfSettings(),
            key: "ca_file", reason: "\(PrintableText.escaped(path)) \(failure.sentence)", hint: failure.remedy,
            hinderedFile: isOwn ? nil : definition.file)
        ]))
    }
  }

  private mutating func lineOfSettings() -> Int? {
    if let known = settingsLine { return known }
    let bytes = try? files.read(settingsFile, limitBytes: ConfigurationLimits.fileBytes)
    let line = bytes.flatMap { TOMLDocument.line(of: "ca_file", in: $0) }
    settingsLine = .some(line)
    return line
  }

  private mutating func digest(_ path: String) -> Result<String, TrustedFile.Failure> {
    if let known = digests[path] { return known }
    let result: Result<String, TrustedFile.Failure>
    if bytes + ConfigurationLimits.certificateBytes > ConfigurationLimits.certificatesBytes {
      let limit = ConfigurationLimits.certificatesBytes
      result = .failure(.refused("is not read: the authorities of all accounts have more than \(limit) bytes"))
    } else {
      do {
        let certificates = try files.read(path, limitBytes: ConfigurationLimits.certificateBytes)
        bytes += certificates.count
        result = .success(PEMBlocks.digest(ofAuthority: certificates))
      } catch { result = .failure(error) }
    }
    digests[path] = result
    return result
  }
}
