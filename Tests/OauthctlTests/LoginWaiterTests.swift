import AgentWire
import Testing

@testable import oauthctl

@Suite("Waiting for a login")
struct LoginWaiterTests {
  @Test("A login whose agent has ended is begun anew by the command that is named")
  func ended() {
    let again = NextStep.run("oauthctl login work")
    func explained(_ error: CommandError) -> CommandError { LoginWaiter.explained(error, account: "work") }
    let gone = explained(.notReachable("nobody listens", isAbsent: true))
    #expect(gone.nextStep == again && gone.status == 7 && gone.sentence?.hasPrefix("work: its login ended") == true)
    let unknown = AgentFailure(.badRequest, "there is no such login", hint: "start it again")
    #expect(explained(.agent(unknown, account: nil)).nextStep == again)
    let denied = AgentFailure(.loginCancelled, "denied", hint: "ask for it")
    #expect(explained(.agent(denied, account: nil)).nextStep == "ask for it")
    #expect(explained(.declined) == .declined)
  }
}
