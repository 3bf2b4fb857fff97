import AgentWire
import Testing

@testable import oauthctl

@Suite("What a command asks of the agent")
struct AgentCallingTests {
  /// Tells how long it was to wait.
  private struct Clocked: AgentCalling {
    func call<P: RequestParameters>(_ parameters: P, timeoutMilliseconds: Int) throws(CommandError) -> P.Answer {
      throw .silent(status: Int32(timeoutMilliseconds / 1_000))
    }
  }

  private func seconds<P: RequestParameters>(_ parameters: P) -> Int32? {
    do throws(CommandError) { _ = try Clocked().ask(parameters) } catch { return error.status }
    return nil
  }

  @Test("a change of an account waits out a refresh that its server holds back, which takes a minute")
  func changes() {
    #expect(seconds(AccountShow(account: "work")) == 35)
    #expect(seconds(SecretForget(account: "work", kind: .password)) == 90)
    #expect(seconds(SecretSet(account: "work", kind: .password, value: "p")) == 90)
    #expect(seconds(AccountAccept(account: "work", bindingDigest: "d")) == 90)
    #expect(seconds(AccountForget(account: "work")) == 90)
    #expect(seconds(Logout(account: "work")) == 90)
  }
}
