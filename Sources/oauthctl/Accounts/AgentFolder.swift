import AgentWire

/// Where the agent reads account files, which need not be where this shell would write them: an agent that is running was
/// started with other `XDG_…` variables, or by systemd with none.
struct AgentFolder: Sendable {
  let surroundings: Surroundings
  /// As `agent.status` tells it; nil: an older agent, which does not.
  let agents: String?

  init(_ surroundings: Surroundings, _ status: AgentStatusAnswer?) {
    self.surroundings = surroundings
    agents = status?.folders?["configuration"]
  }

  /// The folder of this shell when it is another one.
  var shells: String? {
    guard let agents, let mine = surroundings.configurationFolder, !FileBytes.isSamePlace(mine, agents) else {
      return nil
    }
    return mine
  }

  /// The line that makes this shell write where the agent reads.
  var remedy: String? {
    guard let agents else { return nil }
    let base = FileBytes.folder(of: agents)
    if let home = surroundings.home, FileBytes.isSamePlace(base, home + "/.config") { return "unset XDG_CONFIG_HOME" }
    return "export XDG_CONFIG_HOME=\(FileBytes.quoted(base))"
  }

  /// The failure of whoever is about to write a file that the agent would not read; nil: it reads it.
  func obstacle() -> CommandError? {
    guard let mine = shells, let agents, let remedy else { return nil }
    return .configuration(
      "the agent reads \(agents), and this shell would write into \(mine): it was started with another XDG_CONFIG_HOME",
      run: "\(remedy)   # or, so that this shell starts it: oauthctl agent restart")
  }

  /// The failure for an account that is defined where the agent does not look; nil: it is not.
  func misplaced(_ account: String) -> CommandError? {
    guard let mine = shells, let agents, let remedy else { return nil }
    let file = "\(mine)/accounts.d/\(account).toml"
    guard AccountFile(path: file).exists else { return nil }
    return .configuration(
      "\(account): \(file) is there, and the agent reads \(agents)",
      run: "mv \(FileBytes.quoted(file)) \(FileBytes.quoted(agents + "/accounts.d/"))   # or, for this shell: \(remedy)"
    )
  }
}
