/// All checks, in the order of the report: what others depend on comes first.
enum DoctorChecks {
  static func findings(_ context: DoctorContext, _ agent: any AgentCalling) -> [Finding] {
    ProgramCheck.findings(context) + [ClockCheck.finding(context)] + [SocketCheck.finding(context)]
      + AgentCheck.findings(context) + UnitCheck.findings(context) + SandboxCheck.findings(context)
      + VaultCheck.findings(context, agent) + ConfigurationCheck.findings(context)
      + AccountsCheck.findings(context, agent) + ToolCheck.findings(context)
  }
}
