package import AgentCore
package import AgentWire
import Glibc
import Sealing
import Synchronization

/// Configuration from files: `config.toml` and `accounts.d/NAME.toml`.
///
/// What was read stays known by its text, so that reading ten thousand unchanged files again parses none of them.
package final class FileConfiguration: ConfigurationSource {
  /// Largest file: 64 KiB.
  package static let fileLimitBytes = 64 << 10
  /// Most accounts.
  package static let accountLimit = 10_000
  /// Largest certificate authority file: 4 MiB.
  static let certificateLimitBytes = 4 << 20

  package let folder: ConfigurationFolder
  /// Nil: changes are seen only when somebody asks for a reading.
  package let watch: ConfigurationWatch?
  private let uid: UInt32
  private let known = Mutex<[String: Reading<Result<AccountDefinition, ConfigurationProblems>>]>([:])
  private let knownSettings = Mutex<Reading<(settings: AgentSettings, problems: [ConfigurationProblem])>?>(nil)
  private let good = Mutex(AgentSettings())

  /// A class: of a table that is half empty it takes a word.
  private final class Reading<Result: Sendable>: Sendable {
    let bytes: [UInt8]
    let result: Result

    init(_ bytes: [UInt8], _ result: Result) {
      self.bytes = bytes
      self.result = result
    }
  }

  /// `uid` owns the files, beside root.
  package init(folder: ConfigurationFolder, uid: UInt32) {
    self.folder = folder
    self.uid = uid
    watch = ConfigurationWatch(folder: folder)
  }

  /// The settings that hold: those of the last `config.toml` that was read and had no problem.
  package var current: AgentSettings { good.withLock { $0 } }

  /// Reads `config.toml`. Without the file everything has its default; what is wrong has its default too, and is told.
  package func settings() -> (settings: AgentSettings, problems: [ConfigurationProblem]) {
    let file = folder.settingsFile
    do {
      let bytes = try TrustedFile.read(file, uid: uid, limitBytes: Self.fileLimitBytes)
      let known = knownSettings.withLock { $0 }
      let reading =
        if let known, known.bytes == bytes { known } else {
          Reading(bytes, AgentSettings.read(try TOMLDocument(bytes), file: file, folder: folder))
        }
      knownSettings.withLock { $0 = reading }
      if reading.result.problems.isEmpty { good.withLock { $0 = reading.result.settings } }
      return reading.result
    } catch TrustedFile.Failure.missing {
      good.withLock { $0 = AgentSettings() }
      return (AgentSettings(), [])
    } catch {
      return (AgentSettings(), [Self.problem(error, file: file)])
    }
  }

  package func load() -> Configuration {
    watch?.arm()
    var configuration = Configuration(definitions: [], problems: settings().problems)
    let names: [String]
    do {
      names = try TrustedFile.names(in: folder.accountsFolder, uid: uid, limit: 2 * Self.accountLimit)
    } catch {
      configuration.problems.append(Self.problem(error, file: folder.accountsFolder))
      return configuration
    }
    // Editors leave hidden files, backups and swap files; only whole files of ours are meant.
    let files = names.filter { $0.hasSuffix(".toml") && !$0.hasPrefix(".") }
    if files.count > Self.accountLimit {
      configuration.problems.append(
        ConfigurationProblem(
          file: folder.accountsFolder, line: nil, key: nil,
          reason: "it holds more than \(Self.accountLimit) accounts; the rest is not read"))
    }
    var read: Set<String> = []
    for file in files.prefix(Self.accountLimit) {
      let name = String(file.dropLast(".toml".count))
      switch definition(name: name, text: nil) {
      case .success(let definition):
        configuration.definitions.append(definition)
        read.insert(name)
      case .failure(let failure):
        configuration.problems += failure.problems
        read.insert(name)
      }
    }
    known.withLock { known in known = known.filter { read.contains($0.key) } }
    return configuration
  }

  package func definition(name: String, text: String?) -> Result<AccountDefinition, ConfigurationProblems> {
    let file = folder.accountFile(PrintableText.escaped(name, limit: 80))
    func fail(_ problem: ConfigurationProblem) -> Result<AccountDefinition, ConfigurationProblems> {
      .failure(ConfigurationProblems([problem]))
    }
    guard AccountFileName.isAccountName(name) else {
      return fail(ConfigurationProblem(file: file, line: nil, key: nil, reason: AccountFileName.rule))
    }
    let bytes: [UInt8]
    if let text {
      bytes = Array(text.utf8)
      guard bytes.count <= Self.fileLimitBytes else {
        return fail(Self.problem(.refused("is larger than \(Self.fileLimitBytes) bytes"), file: file))
      }
    } else {
      do {
        bytes = try TrustedFile.read(file, uid: uid, limitBytes: Self.fileLimitBytes)
      } catch {
        return fail(Self.problem(error, file: file))
      }
    }
    return parse(bytes, name: name, file: file, keep: text == nil).flatMap { withDigest($0, bytes) }
  }

  private func parse(
    _ bytes: [UInt8], name: String, file: String, keep: Bool
  ) -> Result<AccountDefinition, ConfigurationProblems> {
    if let reading = known.withLock({ $0[name] }), reading.bytes == bytes { return reading.result }
    let result: Result<AccountDefinition, ConfigurationProblems>
    do {
      result = DefinitionReader.read(try TOMLDocument(bytes), name: name, file: file, folder: folder)
    } catch {
      result = .failure(
        ConfigurationProblems([ConfigurationProblem(file: file, line: error.line, key: nil, reason: error.reason)]))
    }
    if keep { known.withLock { $0[name] = Reading(bytes, result) } }
    return result
  }

  /// The private authority: the account's own, else that of `config.toml`. Its file may change without the definition;
  /// the digest shows it. Unlike the proxy, which sees no secret, it is part of what a login is bound to.
  private func withDigest(
    _ definition: AccountDefinition, _ bytes: [UInt8]
  ) -> Result<AccountDefinition, ConfigurationProblems> {
    var definition = definition
    let own = definition.certificateAuthorityFile
    guard let path = own ?? current.certificateAuthorityFile else { return .success(definition) }
    definition.certificateAuthorityFile = path
    do {
      let certificates = try TrustedFile.read(path, uid: uid, limitBytes: Self.certificateLimitBytes)
      definition.certificateAuthorityDigest = Hex.encode(Digest.sha256(certificates))
      return .success(definition)
    } catch {
      let line = TOMLKeyLines(String(decoding: bytes, as: UTF8.self)).line(of: "ca_file")
      let place = own == nil ? " (of config.toml)" : ""
      let reason = "\(PrintableText.escaped(path))\(place) \(Self.sentence(error))"
      return .failure(
        ConfigurationProblems([
          ConfigurationProblem(file: definition.file, line: line, key: "ca_file", reason: reason)
        ]))
    }
  }

  private static func problem(_ error: TrustedFile.Failure, file: String) -> ConfigurationProblem {
    ConfigurationProblem(file: file, line: nil, key: nil, reason: "the file " + sentence(error))
  }

  private static func problem(_ error: any Error, file: String) -> ConfigurationProblem {
    switch error {
    case let error as TrustedFile.Failure: problem(error, file: file)
    case let error as TOMLDocument.SyntaxError:
      ConfigurationProblem(file: file, line: error.line, key: nil, reason: error.reason)
    default: ConfigurationProblem(file: file, line: nil, key: nil, reason: "the file cannot be read")
    }
  }

  private static func sentence(_ error: TrustedFile.Failure) -> String {
    switch error {
    case .missing: "does not exist"
    case .refused(let reason): reason
    }
  }
}
