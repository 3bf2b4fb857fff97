package import AgentCore
import AgentWire
package import OAuthProtocol
import Glibc
import Sealing
import Synchronization

/// Configuration from files: `config.toml` and `accounts.d/NAME.toml`.
///
/// What was read stays known by the digest of its text, so that reading ten thousand unchanged files again parses none of
/// them. Files are read on threads made for it: a reading may take long, and a file system may hang (``PatientReader``).
package final class FileConfiguration: ConfigurationSource {
  package let folder: ConfigurationFolder
  package let watch: ConfigurationWatch
  let reader: PatientReader
  let providersReading = SharedReading<ProviderListAnswer>()
  private let authorities: AuthorityFiles
  private let known = Mutex<[String: Known<Result<AccountDefinition, ConfigurationProblems>>]>([:])
  private let knownSettings = Mutex<Known<(settings: AgentSettings, problems: [ConfigurationProblem])>?>(nil)
  private let good = Mutex(AgentSettings())
  private let settled: @Sendable (AgentSettings) -> Void

  /// A class: of a table that is half empty it takes a word.
  private final class Known<Result: Sendable>: Sendable {
    let digest: [UInt8]
    let result: Result

    init(_ digest: [UInt8], _ result: Result) {
      self.digest = digest
      self.result = result
    }
  }

  /// `uid` owns the files, beside root. `settled` gets the settings that hold, at each reading. Nothing is read yet.
  package convenience init(
    folder: ConfigurationFolder, uid: UInt32, settled: @escaping @Sendable (AgentSettings) -> Void = { _ in }
  ) {
    self.init(folder: folder, reader: PatientReader(uid: uid), settled: settled)
  }

  init(
    folder: ConfigurationFolder, reader: PatientReader,
    settled: @escaping @Sendable (AgentSettings) -> Void = { _ in }
  ) {
    self.folder = folder
    self.reader = reader
    authorities = AuthorityFiles(uid: reader.uid)
    self.settled = settled
    watch = ConfigurationWatch(folder: folder, reader: reader)
  }

  /// The settings that hold: those of the last `config.toml` that was read and had no problem.
  package var current: AgentSettings { good.withLock { $0 } }

  package var hasUnreadChange: Bool { watch.hasUnreportedChange }

  package var clientMetadataURL: String? { current.clientMetadataURL }

  // MARK: Reading elsewhere

  /// The settings to begin with: those of `config.toml`, and the defaults where that has a problem.
  package func begin() async -> AgentSettings {
    _ = await reader.read { self.settings($0).problems }
    return current
  }

  package func load() async -> Configuration {
    switch await reader.read({ self.read($0) }) {
    case .success(let read): read
    case .failure(let failure):
      Configuration(definitions: [], problems: [Self.problem(failure, file: folder.path)])
    }
  }

  package func definition(name: String, text: String?) async -> Result<AccountDefinition, ConfigurationProblems> {
    await reader.read { self.readDefinition(name: name, text: text, $0) }
      .mapError { ConfigurationProblems([Self.problem($0, file: self.folder.accountsFolder)]) }
      .flatMap { $0 }
  }

  package func content(_ authority: NamedAuthority) async -> Result<[UInt8], HTTPFailure> {
    await authorities.content(authority)
  }

  // MARK: Reading here

  /// Reads `config.toml`. Without the file everything has its default; what is wrong has its default too, and is reported.
  func settings(_ files: ReadingAttempt) -> (settings: AgentSettings, problems: [ConfigurationProblem]) {
    let file = folder.settingsFile
    do {
      try files.reach(folder.path)
      let bytes = try files.read(file, limitBytes: ConfigurationLimits.fileBytes)
      let digest = Digest.sha256(bytes)
      let before = knownSettings.withLock { $0 }
      let reading =
        if let before, before.digest == digest { before } else {
          Known(digest, AgentSettings.read(try TOMLDocument(bytes), file: file, folder: folder))
        }
      knownSettings.withLock { $0 = reading }
      if reading.result.problems.isEmpty { settle(reading.result.settings) }
      return reading.result
    } catch TrustedFile.Failure.missing {
      settle(AgentSettings())
      return (AgentSettings(), [])
    } catch {
      return (AgentSettings(), [Self.problem(error, file: file)])
    }
  }

  private func settle(_ settings: AgentSettings) {
    good.withLock { $0 = settings }
    settled(settings)
  }

  /// Reads everything.
  func read(_ files: ReadingAttempt) -> Configuration {
    // The folders before what is in them. A folder that hangs would keep the watch as well.
    try? files.reach(folder.path)
    try? files.at(folder.accountsFolder) { watch.arm() }
    var reading = FolderReading(settingsProblems: settings(files).problems, folders: accountFolders(files))
    let names: [String]
    do {
      names = try self.names(in: folder, files)
    } catch {
      reading.add(Self.problem(error, file: folder.accountsFolder))
      return reading.configuration
    }
    if names.count > ConfigurationLimits.accounts {
      reading.add(excess: "more than \(ConfigurationLimits.accounts) accounts")
    }
    var certificates = Certificates(files: files, settingsFile: folder.settingsFile)
    var read: Set<String> = []
    for file in names.prefix(ConfigurationLimits.accounts) {
      let name = String(file.dropLast(".toml".count))
      guard reading.hasRoom else {
        reading.add(excess: "more than \(ConfigurationLimits.folderBytes) bytes of accounts")
        break
      }
      let (result, size) = definition(name: name, text: nil, files, &certificates)
      reading.add(result, bytes: size)
      read.insert(name)
    }
    known.withLock { known in known = known.filter { read.contains($0.key) } }
    func line(_ key: String, _ definition: AccountDefinition) -> Int? {
      let bytes = try? files.read(definition.file, limitBytes: ConfigurationLimits.fileBytes)
      return bytes.flatMap { TOMLDocument.line(of: key, in: $0) }
    }
    reading.compareDefaults { line("default", $0) }
    reading.compareLenders(line: line)
    return reading.configuration
  }

  /// The names of the account files in `folder`.
  private func names(
    in folder: ConfigurationFolder, _ files: ReadingAttempt
  ) throws(TrustedFile.Failure) -> [String] {
    let names = try files.names(in: folder.accountsFolder, limit: ConfigurationLimits.accounts) { name in
      // Editors leave hidden files, backups and swap files; only whole files of ours are meant.
      name.hasSuffix(".toml") && !name.hasPrefix(".")
    }
    // The first account would be written there, and could not be read.
    if names.isEmpty { try files.checkPlace(of: folder.accountsFolder) }
    return names
  }

  private func accountFolders(_ files: ReadingAttempt) -> AccountFolders {
    var folders = AccountFolders(read: folder.accountsFolder)
    folders.gone = [folder.path, folder.accountsFolder].first { path in
      (try? files.at(path) { access(path, F_OK) != 0 && errno == ENOENT }) ?? false
    }
    folders.isGoneLink =
      folders.gone.flatMap { path in
        var found = stat()
        return try? files.at(path) { lstat(path, &found) == 0 }
      } ?? false
    guard let usual = folder.usual, let names = try? self.names(in: usual, files) else { return folders }
    folders.usual = usual.accountsFolder
    folders.inUsual = Set(names.map { String($0.dropLast(".toml".count)) })
    return folders
  }

  func readDefinition(
    name: String, text: String?, _ files: ReadingAttempt
  ) -> Result<AccountDefinition, ConfigurationProblems> {
    var certificates = Certificates(files: files, settingsFile: folder.settingsFile)
    return definition(name: name, text: text, files, &certificates).result
  }

  private func definition(
    name: String, text: String?, _ files: ReadingAttempt, _ certificates: inout Certificates
  ) -> (result: Result<AccountDefinition, ConfigurationProblems>, bytes: Int) {
    let file = folder.accountFile(PrintableText.escaped(name, limit: 80))
    func fail(_ problem: ConfigurationProblem) -> (Result<AccountDefinition, ConfigurationProblems>, Int) {
      (.failure(ConfigurationProblems([problem])), 0)
    }
    guard AccountFileName.isAccountName(name) else {
      return fail(ConfigurationProblem(file: file, line: nil, key: nil, reason: AccountFileName.rule))
    }
    let bytes: [UInt8]
    if let text {
      bytes = Array(text.utf8)
      guard bytes.count <= ConfigurationLimits.fileBytes else {
        return fail(Self.problem(.refused("is larger than \(ConfigurationLimits.fileBytes) bytes"), file: file))
      }
    } else {
      do {
        bytes = try files.read(file, limitBytes: ConfigurationLimits.fileBytes)
      } catch {
        return fail(Self.problem(error, file: file))
      }
    }
    let result = parse(bytes, name: name, file: file, keep: text == nil).flatMap { definition in
      certificates.digested(definition, common: current.certificateAuthorityFile) {
        TOMLDocument.line(of: $0, in: bytes)
      }
    }
    return (result, bytes.count)
  }

  private func parse(
    _ bytes: [UInt8], name: String, file: String, keep: Bool
  ) -> Result<AccountDefinition, ConfigurationProblems> {
    let digest = Digest.sha256(bytes)
    if let before = known.withLock({ $0[name] }), before.digest == digest { return before.result }
    let result: Result<AccountDefinition, ConfigurationProblems>
    do {
      result = DefinitionReader.read(try TOMLDocument(bytes), name: name, file: file, folder: folder).map {
        var definition = $0
        definition.textDigest = Hex.encode(digest)
        return definition
      }
    } catch {
      result = .failure(
        ConfigurationProblems([ConfigurationProblem(file: file, line: error.line, key: nil, reason: error.reason)]))
    }
    if keep { known.withLock { $0[name] = Known(digest, result) } }
    return result
  }

  static func problem(_ error: TrustedFile.Failure, file: String) -> ConfigurationProblem {
    ConfigurationProblem(
      file: file, line: nil, key: nil, reason: (file.hasSuffix(".toml") ? "the file " : "the folder ") + error.sentence,
      hint: error.remedy)
  }

  private static func problem(_ error: any Error, file: String) -> ConfigurationProblem {
    switch error {
    case let error as TrustedFile.Failure: problem(error, file: file)
    case let error as TOMLDocument.SyntaxError:
      ConfigurationProblem(file: file, line: error.line, key: nil, reason: error.reason)
    default: ConfigurationProblem(file: file, line: nil, key: nil, reason: "the file cannot be read")
    }
  }
}

extension TrustedFile.Failure {
  /// Completes a sentence that begins with the file's name.
  var sentence: String {
    switch self {
    case .missing: "does not exist"
    case .refused(let reason, _): reason
    }
  }

  var remedy: NextStep? {
    switch self {
    case .missing: nil
    case .refused(_, let remedy): remedy
    }
  }

  /// The sentence with what helps, where there is no room for that beside it.
  var told: String { sentence + (remedy.map { ": " + $0.text } ?? "") }
}
