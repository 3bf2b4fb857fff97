import AgentWire

@testable import oauthctl

/// A doctor who looks at a pretended machine and agent.
enum Doctor {
  static let variables = [
    "HOME": "/home/u", "USER": "u", "XDG_RUNTIME_DIR": "/run/user/7", "PATH": "/opt/bin:/usr/bin", "DISPLAY": ":0",
  ]

  static func findings(
    _ machine: PretendedMachine = .init(), _ agent: PretendedAgent = .init(), _ more: [String: String] = [:]
  ) -> [Finding] {
    let context = CommandContext.scripted(
      Page(), variables.merging(more) { $1 }, { parameters throws(CommandError) in try agent.answer(parameters) })
    return DoctorChecks.findings(DoctorContext(machine: machine.machine, command: context), context.agent)
  }

  /// Those that are not ok, as `level check: fix`.
  static func troubles(_ findings: [Finding]) -> [String] {
    findings.filter { $0.level != .ok }
      .map { "\($0.level.rawValue) \($0.check): \($0.fix?.text ?? "-")" }
  }

  /// One thing that is wrong: its name, what makes it so, and what is told then.
  typealias Case = (String, @Sendable (inout PretendedMachine, inout PretendedAgent) -> Void, [String])

  /// What is told of it.
  static func troubles(_ wrong: Case) -> [String] {
    var (machine, agent) = (PretendedMachine(), PretendedAgent())
    wrong.1(&machine, &agent)
    return troubles(findings(machine, agent))
  }
}
