import AgentWire
import ArgumentParser

struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Checks everything that oauthctl needs, and says how to fix what is wrong.",
    discussion: """
      It starts no agent. When one runs, it asks the servers of all accounts for their metadata. The exit status is 1 \
      when something is wrong.
      Example: oauthctl doctor --json | jq '.findings[] | select(.level == "wrong")'
      """)

  @Argument(help: "Checks only this account, and what all accounts need.", completion: .keptAccountName)
  var account: String?
  @Flag(help: "Prints JSON.") var json = false
  @OptionGroup var verbosity: Verbosity

  func run() throws {
    try run(.withoutStarting(), .live())
  }

  func run(_ command: CommandContext, _ machine: Machine) throws(CommandError) {
    var context = DoctorContext(machine: machine, command: command)
    if let account {
      try AccountName.check(account)
      try context.keep(account)
    }
    let report = DoctorReport(
      findings: DoctorChecks.findings(context, command.agent), isVaultLocked: context.status?.vault.state == .locked)
    if json {
      command.terminal.data(JSONText.pretty(report))
    } else {
      command.terminal.page(DoctorPage(report: report).lines(command.terminal))
    }
    if !report.isHealthy { throw .silent(status: 1) }
  }
}
