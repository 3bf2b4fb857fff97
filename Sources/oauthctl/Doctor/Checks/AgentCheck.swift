import AgentClient
import AgentWire

/// The agent that runs, if one does.
enum AgentCheck {
  static func findings(_ patient: Patient) -> [Finding] {
    switch patient.agent {
    case .absent(let error): return [absent(error, patient)]
    case .running(let hello, let status):
      var findings = [age(hello, status, patient)]
      // A folder that takes no log is told with the vault, whose files are there, too.
      let isFolderTold = VaultCheck.stateFolder(patient) != nil
      for remark in status.degraded where remark.hasPrefix(ClockCheck.agentsRemark) {
        findings.append(.wrong("clock", remark, ClockCheck.fix))
      }
      for remark in status.degraded
      where !remark.hasPrefix(ClockCheck.agentsRemark) && !(isFolderTold && remark.hasPrefix("the log ")) {
        findings.append(
          .wrong(
            "agent", remark,
            remark.hasPrefix("the log ")
              ? .advice("it needs room, and to be yours alone; until then its lines are lost")
              : remark.contains("(ulimit ")
                ? .advice("in a shell, or by a unit, without that limit: oauthctl agent restart")
                : .run("oauthctl agent log")))
      }
      return findings
    }
  }

  private static func absent(_ error: CommandError, _ patient: Patient) -> Finding {
    let location = try? SocketLocation.resolve(
      variable: { patient.surroundings.raw($0) }, uid: patient.machine.userID, status: patient.machine.status)
    if case .noAnswer(let sentence, let run) = error {
      // It is known to be stopped, and which one.
      if run.hasPrefix("kill ") { return .wrong("agent", sentence, .run(run)) }
      return .wrong(
        "agent", "it takes connections and does not answer: it is stopped, or it hangs",
        .run(
          "pkill -CONT -u \(patient.machine.userID) -x oauthd; oauthctl status   # if it hangs: pkill -KILL -u \(patient.machine.userID) -x oauthd"
        ))
    }
    guard case .notReachable(let sentence, let step) = error else {
      return .wrong(
        "agent", error.sentence ?? "it does not answer",
        error.nextStep.map { .advice($0) } ?? .run("oauthctl agent log"))
    }
    // Told already, and it tells what to do.
    if SocketCheck.finding(patient).level == .wrong {
      return .note("agent", "it was not asked: see its socket", nil)
    }
    if let location, location.source != .environment {
      // A socket may outlive its agent; whoever starts the next one takes its place.
      let isLeft = sentence.hasSuffix(SocketDoor.nobodyListens)
      if !isLeft, patient.machine.status(location.path)?.kind == .socket {
        return .wrong("agent", sentence, .run("oauthctl status"))
      }
    } else {
      return .wrong("agent", sentence, .advice(step ?? "start it, or unset OAUTHCTL_SOCKET"))
    }
    return .note(
      "agent", "none runs; one is started when it is needed. Vault and servers were not asked",
      .run("oauthctl status && oauthctl doctor"))
  }

  private static func age(_ hello: AgentHelloAnswer, _ status: AgentStatusAnswer, _ patient: Patient) -> Finding {
    if hello.protocol != 1 || hello.agentVersion != ProjectVersion.current {
      return .wrong(
        "agent", "pid \(status.pid) is version \(hello.agentVersion), this is \(ProjectVersion.current)",
        patient.restart)
    }
    if let program = patient.machine.program,
      let changed = patient.machine.changedAt(FileBytes.folder(of: program) + "/oauthd"), changed > status.startedAt
    {
      return .note("agent", "pid \(status.pid) runs the oauthd of before it was installed anew", patient.restart)
    }
    return .ok(
      "agent", "pid \(status.pid), version \(hello.agentVersion), \(AgentReport.words(started: status.started))")
  }
}
