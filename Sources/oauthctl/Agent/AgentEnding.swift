import AgentClient
import AgentWire
import Glibc

/// Ends the agent as whoever started it would, and waits for it.
struct AgentEnding {
  /// Until a person reads why it takes so long: most agents end sooner.
  private static let quietMilliseconds = 2_000
  /// A stop waits a minute for token requests under way, then for answers that are owed.
  private static let mostMilliseconds = 75_000

  let starter: AgentStarter
  let terminal: Terminal

  static func starter() throws(CommandError) -> AgentStarter {
    do { return try AgentStarter() } catch { throw CommandError(error) }
  }

  /// The process id of the agent that ended; nil: none ran.
  func stop() throws(CommandError) -> Int? {
    guard let agent = try running() else { return nil }
    try checkLosesNothing(agent)
    if agent.status.started == "systemd" {
      // The service alone would be started again by whoever connects next.
      try end(agent, by: ["stop", "oauthd.socket", "oauthd.service"])
    } else {
      do { try agent.terminate() } catch { throw CommandError(error) }
      try wait(for: agent)
    }
    return agent.status.pid
  }

  /// Ends the agent, where one runs; the next call starts one.
  ///
  /// - Returns: how the one that ended was.
  func restart() throws(CommandError) -> AgentStatusAnswer? {
    guard let agent = try running() else { return nil }
    try checkLosesNothing(agent)
    if agent.status.started == "systemd" {
      try end(agent, by: ["restart", "oauthd.service"])
    } else if starter.location.source == .environment {
      throw .usage(
        "OAUTHCTL_SOCKET names the agent, so none would be started in place of it",
        next: .run("oauthctl agent stop   # then start it again as you did"))
    } else {
      do { try agent.terminate() } catch { throw CommandError(error) }
      try wait(for: agent)
    }
    return agent.status
  }

  private func running() throws(CommandError) -> RunningAgent? {
    do throws(ClientError) { return try RunningAgent(of: starter) } catch {
      if case .timeout = error {
        throw .local(
          "the agent takes connections and does not answer", next: .run("oauthctl doctor"), status: error.exitStatus)
      }
      throw CommandError(error)
    }
  }

  private func checkLosesNothing(_ agent: RunningAgent) throws(CommandError) {
    let vault = agent.status.vault
    guard vault.logLost == true else {
      // Whoever puts it right has to end the agent first.
      if vault.state == .damaged || vault.keptInMemory == true {
        terminal.warn(vault.reason ?? "the vault is damaged", next: vault.remedy)
      }
      return
    }
    throw .local(
      "the agent alone has what was written to the vault last, and that ends with it; \(vault.reason ?? "it is shut")",
      next: "put that right first; to end it all the same: kill \(agent.status.pid)", status: 1)
  }

  private func end(_ agent: RunningAgent, by words: [String]) throws(CommandError) {
    guard let systemctl = starter.userManager else {
      throw .local(
        "systemd started it, and cannot be reached from here",
        next: .run("systemctl --user \(words.joined(separator: " "))"), status: 1)
    }
    let child: pid_t
    do { child = try Program.start([systemctl, "--user"] + words) } catch {
      throw .local("\(systemctl) cannot be started: \(FileBytes.errorText(error.code))", status: 1)
    }
    // It waits as well.
    tellIfSlow(agent)
    guard Program.wait(for: child) == 0 else {
      throw .local("systemd did not do it", next: .run("systemctl --user status oauthd.service"), status: 1)
    }
    try wait(for: agent)
  }

  private func wait(for agent: RunningAgent) throws(CommandError) {
    tellIfSlow(agent)
    guard agent.hasEnded(within: Self.mostMilliseconds) else {
      throw .local(
        "the agent (pid \(agent.status.pid)) is still there", next: .run("oauthctl agent log -n 20"), status: 6)
    }
  }

  private func tellIfSlow(_ agent: RunningAgent) {
    guard !agent.hasEnded(within: Self.quietMilliseconds) else { return }
    terminal.say("It finishes what is under way, which may take a minute.")
  }
}
