import AgentClient
import AgentWire
import ArgumentParser

struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Looks at everything that has to be right, and says how to mend what is not.",
    discussion: """
      Starts no agent; with one that runs, it asks the servers of all accounts for their metadata. The exit status is 1 \
      when something is wrong.
      Example: oauthctl doctor --json | jq '.findings[] | select(.level == "wrong")'
      """)

  @Argument(help: "Looks at this account alone, beside what all of them need.", completion: .keptAccountName)
  var account: String?
  @Flag(help: "Prints JSON.") var json = false
  @OptionGroup var verbosity: Verbosity

  func run() throws {
    try run(Workbench(agent: WaitingAgent(), terminal: .live(), surroundings: .live), .live())
  }

  func run(_ bench: Workbench, _ machine: Machine) throws(CommandError) {
    var patient = Patient(machine: machine, bench: bench)
    if let account {
      try AccountName.check(account)
      try patient.keep(account)
    }
    let report = DoctorReport(findings: Examination.findings(patient, bench.agent))
    if json {
      bench.terminal.data(JSONText.pretty(report))
    } else {
      bench.terminal.page(DoctorPage(report: report).lines(bench.terminal))
    }
    if !report.isHealthy { throw .silent(status: 1) }
  }
}

/// The agent that runs; none is started for an examination.
struct WaitingAgent: AgentCalling {
  func call<P: RequestParameters>(_ parameters: P, timeoutMilliseconds: Int) throws(CommandError) -> P.Answer {
    do {
      return try AgentStarter().connect(starting: false).call(parameters, timeoutMilliseconds: timeoutMilliseconds)
    } catch {
      throw CommandError(error)
    }
  }
}

/// All checks, in the order in which they are told: what stands below, first.
enum Examination {
  static func findings(_ patient: Patient, _ agent: any AgentCalling) -> [Finding] {
    ProgramCheck.findings(patient) + [ClockCheck.finding(patient)] + [SocketCheck.finding(patient)]
      + AgentCheck.findings(patient) + UnitCheck.findings(patient) + SandboxCheck.findings(patient)
      + VaultCheck.findings(patient) + ConfigurationCheck.findings(patient)
      + AccountCheckup.findings(patient, agent) + ToolCheck.findings(patient)
  }
}
