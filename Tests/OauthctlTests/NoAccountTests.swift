import AgentWire
import ArgumentParser
import Testing

@testable import oauthctl

@Suite("Where no account is listed")
struct NoAccountTests {
  private func vault(_ state: VaultStatusAnswer.State, gone: Bool? = nil) -> VaultStatusAnswer {
    VaultStatusAnswer(state: state, slots: ["key_file"], path: "/v", gone: gone)
  }

  @Test(
    "There is none where the vault is open, is not made, or cannot be asked",
    arguments: [.open, .absent, nil] as [VaultStatusAnswer.State?])
  func none(state: VaultStatusAnswer.State?) {
    let none = NoAccount(state.map { vault($0) })
    #expect(none.sentence == "there is no account yet" && none.step == .firstLogin())
    #expect(NoAccount(shut: state.map { vault($0) }) == nil)
  }

  @Test("A vault that is shut may hold logins without a file")
  func shut() {
    let locked = NoAccount(vault(.locked))
    #expect(locked.sentence.hasPrefix("no account has a file, and the vault is locked: a login without a file shows "))
    #expect(locked.step == .run("oauthctl vault unlock"))
    #expect(NoAccount(shut: vault(.locked), named: "work")?.sentence.hasPrefix("work: it has no file, and ") == true)
    #expect(NoAccount(vault(.damaged)).sentence.contains("the vault does not open"))
    #expect(NoAccount(vault(.damaged, gone: true)).sentence == "there is no account yet", "nothing is left of it")
  }

  @Test("The list, the status and doctor say so")
  func commands() throws {
    let page = Page()
    var status = AgentCommandTests.status()
    status.vault.state = .locked
    let answer = status
    let context = CommandContext.scripted(page) { parameters in
      if parameters is AgentStatus { return answer }
      return AccountPage(accounts: [], next: nil)
    }
    try #require(try AccountCommand.parseAsRoot(["list"]) as? AccountCommand.List).run(context)
    #expect(page.error.contains("the vault is locked") && !page.error.contains("there is no account yet"))
    let lines = StatusPage(status: answer, accounts: [], now: 0).lines(Page().terminal())
    #expect(lines.first?.hasPrefix("no account has a file, and the vault is locked") == true)
    var machine = PretendedMachine()
    machine.files = machine.files.filter { !$0.key.hasSuffix(".toml") }
    var agent = PretendedAgent()
    agent.status.vault.state = .locked
    let locked = agent
    let command = CommandContext.scripted(Page(), Doctor.variables) { parameters throws(CommandError) in

      if parameters is AccountList { return AccountPage(accounts: [], next: nil) }
      return try locked.answer(parameters)
    }
    var doctor = DoctorContext(machine: machine.machine, command: command)
    let findings = AccountsCheck.findings(doctor, command.agent)
    #expect(findings.map(\.message) == [NoAccount(locked.status.vault).sentence])
    let missed = try #require(NoAccount(shut: locked.status.vault, named: "work"))
    #expect(throws: missed.error) { try doctor.keep("work") }
  }
}
