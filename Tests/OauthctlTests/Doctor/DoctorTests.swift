import AgentWire
import ArgumentParser
import Testing

@testable import oauthctl

@Suite("Doctor")
struct DoctorTests {
  @Test("Where all is well, every finding is ok")
  func well() {
    let findings = Doctor.findings()
    #expect(Doctor.troubles(findings) == [])
    #expect(
      findings.map(\.check) == [
        "programs", "clock", "socket", "agent", "units", "linger", "sandbox", "vault", "configuration",
        "certificates", "login", "server", "browser", "git",
      ])
  }

  @Test("The command ends with 1 only when something is wrong, and escapes what it shows")
  func command() throws {
    for isWrong in [false, true] {
      var agent = PretendedAgent()
      if isWrong { agent.serverFailure = AgentFailure(.unavailable, "bad\u{1B}[31m") }
      for json in [false, true] {
        let page = Page()
        let answers = agent
        let context = CommandContext.scripted(
          page, Doctor.variables, { parameters throws(CommandError) in try answers.answer(parameters) })
        var command = try #require(try Oauthctl.parseAsRoot(["doctor"]) as? DoctorCommand)
        command.json = json
        do throws(CommandError) {
          try command.run(context, PretendedMachine().machine)
          #expect(!isWrong)
        } catch {
          #expect(isWrong && error.status == 1)
        }
        #expect(!page.output.contains("\u{1B}") && page.error.isEmpty)
        #expect(
          page.output.contains(json ? "\"healthy\" : \(!isWrong)" : isWrong ? "1 thing is wrong." : "Nothing is wrong.")
        )
        #expect(!isWrong || page.output.contains("work"))
      }
    }
  }
}
