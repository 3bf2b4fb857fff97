package import AgentWire
import Glibc
import SystemFacts

/// Where the agent's files are (XDG Base Directory specification). All absolute.
package struct AgentPaths: Sendable, Equatable {
  package var configuration: String
  package var vaultDirectory: String
  package var stateDirectory: String
  package var keyFile: String
  package var commitCounter: String
  /// Where vault and key file are when no variable says otherwise.
  package var usualDatabase: String
  package var usualKeyFile: String

  /// Relative values of the variables are ignored, as the specification wants. Without `HOME` the password database
  /// tells it. Throws ``AgentPathsError``.
  package init(environment: [String: String]) throws(AgentPathsError) {
    if let name = BaseFolder.unreadableVariable(in: environment) {
      throw AgentPathsError("\(name) is not UTF-8: set it to another folder, or unset it")
    }
    func absolute(_ name: String) -> String? {
      environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
    let home = absolute("HOME") ?? Self.passwordDatabaseHome()
    if let refusal = BaseFolder.refusal(
      in: environment, home: home, fault: FolderTrust.files(of: geteuid()).fault(toMake:))
    {
      throw AgentPathsError(PrintableText.escaped("\(refusal.reason): \(refusal.hint)"))
    }
    func folder(_ kind: BaseFolder, isUsual: Bool = false) throws(AgentPathsError) -> String {
      let value = isUsual ? nil : environment[kind.variable]
      guard home != nil, let path = kind.path(value: value, home: home) else {
        throw AgentPathsError("the user has no home directory; set HOME")
      }
      return path
    }
    let (data, state) = (try folder(.data), try folder(.state))
    configuration = try folder(.configuration) + "/oauthctl"
    vaultDirectory = data + "/oauthctl"
    stateDirectory = state + "/oauthctl"
    keyFile = state + "/oauthctl/vault.key"
    commitCounter = state + "/oauthctl/vault.commits"
    usualDatabase = try folder(.data, isUsual: true) + "/oauthctl/vault.db"
    usualKeyFile = try folder(.state, isUsual: true) + "/oauthctl/vault.key"
  }

  /// Where is kept what the vault cannot write: where the socket is by `XDG_RUNTIME_DIR`, where it is without, and where the
  /// agent's state is. The first two are folders of ours in memory on most systems, and every agent of this user looks in the
  /// second. Last come those in which the socket would be if others could not write to the folder above: something may have
  /// been kept there before they could, and it is sealed. `status` is lstat.
  package func asideDirectories(
    runtimeDirectory: String?, uid: UInt32, status: (String) -> SocketLocation.FileStatus?
  ) -> [String] {
    var found: [String] = []
    for base in [runtimeDirectory, nil] {
      let location = try? SocketLocation.resolve(
        variable: { $0 == "XDG_RUNTIME_DIR" ? base : nil }, uid: uid, status: status)
      if let location { found.append(location.directory) }
    }
    found.append(stateDirectory)
    for base in [runtimeDirectory, "/run/user/\(uid)"] {
      let open = SocketLocation.openRuntimeFolder(
        variable: { $0 == "XDG_RUNTIME_DIR" ? base : nil }, uid: uid, status: status)
      if let open { found.append(open + "/oauthctl") }
    }
    return found.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  private static func passwordDatabaseHome() -> String? {
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16_384)
    guard getpwuid_r(getuid(), &entry, &buffer, buffer.count, &found) == 0, found != nil, let home = entry.pw_dir else {
      return nil
    }
    let text = String(cString: home)
    return text.hasPrefix("/") ? text : nil
  }
}

/// Nobody can say where the agent's files are, or they would be in a folder of another user.
package struct AgentPathsError: Error, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }
}
