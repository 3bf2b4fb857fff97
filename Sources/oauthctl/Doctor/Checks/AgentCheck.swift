import AgentWire

/// The agent that runs, if one does.
enum AgentCheck {
  static func findings(_ context: DoctorContext) -> [Finding] {
    switch context.agent {
    case .absent(let error): return [absent(error, context)]
    case .running(let hello, let status):
      var findings = [age(hello, status, context)]
      // A folder that takes no log is told with the vault, whose files are there, too.
      let isFolderTold = VaultCheck.stateFolder(context) != nil
      let conditions = status.conditions ?? status.degraded.map { AgentCondition(.other, $0) }
      for condition in conditions where condition.kind != .log || !isFolderTold {
        findings.append(
          .wrong(
            condition.kind == .clock ? "clock" : "agent", condition.message,
            condition.nextStep ?? .run("oauthctl agent log")))
      }
      return findings
    }
  }

  private static func absent(_ error: CommandError, _ context: DoctorContext) -> Finding {
    let location = try? SocketLocation.resolve(
      variable: { context.environment.raw($0) }, uid: context.machine.userID, status: context.machine.status)
    if UnitCheck.failing(context) != nil { return .note("agent", "it does not answer: see its units") }
    if case .noAnswer(let sentence, let next) = error {
      // It is known which one, and whether it is stopped.
      if let next { return .wrong("agent", sentence, next) }
      return .wrong(
        "agent", "it takes connections and does not answer",
        VaultHolder.remedyOfOwnAgent(context) ?? .run("oauthctl agent log -n 20"))
    }
    guard case .notReachable(let sentence, let step, let isAbsent) = error else {
      return .wrong(
        "agent", error.sentence ?? "it does not answer", error.nextStep ?? .run("oauthctl agent log"))
    }
    // Told already, and it tells what to do.
    if SocketCheck.finding(context).level == .wrong {
      return .note("agent", "it was not asked: see its socket", nil)
    }
    if let location, location.source != .environment {
      // A socket may outlive its agent; whoever starts the next one takes its place.
      if !isAbsent, context.machine.status(location.path)?.kind == .socket {
        return .wrong("agent", sentence, .run("oauthctl status"))
      }
    } else {
      return .wrong("agent", sentence, step ?? "start it, or unset OAUTHCTL_SOCKET")
    }
    return .note(
      "agent", "none runs; one is started when it is needed. Vault and servers were not asked",
      .run("oauthctl status && oauthctl doctor"))
  }

  private static func age(_ hello: AgentHelloAnswer, _ status: AgentStatusAnswer, _ context: DoctorContext) -> Finding {
    if hello.protocol != 1 || hello.agentVersion != ProjectVersion.current {
      return .wrong(
        "agent", "pid \(status.pid) is version \(hello.agentVersion), this is \(ProjectVersion.current)",
        context.restart)
    }
    if let program = context.machine.program,
      let changed = context.machine.changedAt(FileBytes.folder(of: program) + "/oauthd"), changed > status.startedAt
    {
      return .note(
        "agent", "pid \(status.pid) still runs the oauthd from before the last installation", context.restart)
    }
    return .ok(
      "agent", "pid \(status.pid), version \(hello.agentVersion), \(AgentReport.words(started: status.started))")
  }
}
