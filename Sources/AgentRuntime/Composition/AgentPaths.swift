import Glibc

/// Where the agent's files are (XDG Base Directory specification). All absolute.
package struct AgentPaths: Sendable, Equatable {
  package var configuration: String
  package var vaultDirectory: String
  package var stateDirectory: String
  package var keyFile: String
  package var commitCounter: String
  package var spillDirectory: String

  /// Relative values of the variables are ignored, as the specification wants. Without `HOME` the password database
  /// tells it. Throws ``AgentPathsError``.
  package init(environment: [String: String]) throws(AgentPathsError) {
    func absolute(_ name: String) -> String? {
      environment[name].flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
    guard let home = absolute("HOME") ?? Self.passwordDatabaseHome() else { throw AgentPathsError() }
    let configuration = absolute("XDG_CONFIG_HOME") ?? home + "/.config"
    let data = absolute("XDG_DATA_HOME") ?? home + "/.local/share"
    let state = absolute("XDG_STATE_HOME") ?? home + "/.local/state"
    self.configuration = configuration + "/oauthctl"
    vaultDirectory = data + "/oauthctl"
    stateDirectory = state + "/oauthctl"
    keyFile = state + "/oauthctl/vault.key"
    commitCounter = state + "/oauthctl/vault.commits"
    spillDirectory = (absolute("XDG_RUNTIME_DIR") ?? state) + "/oauthctl/spill"
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

/// No home directory can be told.
package struct AgentPathsError: Error, CustomStringConvertible {
  package var description: String { "the user has no home directory; set HOME" }
}
