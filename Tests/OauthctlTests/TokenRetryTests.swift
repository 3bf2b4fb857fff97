import AgentWire
import Testing

@testable import oauthctl

@Suite("Asking for a token again")
struct TokenRetryTests {
  /// A clock that only sleeping moves, and what was asked when.
  private final class Record {
    var now = 0
    var asked: [(at: Int, request: TokenGet)] = []
  }

  private func run(
    _ request: TokenGet, _ failures: [AgentFailure]
  ) -> (result: Result<TokenAnswer, CommandError>, record: Record) {
    let record = Record()
    let asking = TokenRetry(now: { record.now }, sleep: { record.now += $0 })
    let result = Result { () throws(CommandError) in
      try asking.run(request) { request throws(CommandError) in
        record.asked.append((record.now, request))
        let place = record.asked.count - 1
        guard place < failures.count else { return TokenAnswer.example("t") }
        throw .agent(failures[place], account: "work")
      }
    }
    return (result, record)
  }

  private func failure(_ kind: FailureKind, retry: Int?) -> AgentFailure {
    AgentFailure(kind, "\(kind)", retryAfterMilliseconds: retry)
  }

  @Test("A failure that passes is asked about again when the agent says so, with the time that is left")
  func passes() throws {
    let (result, record) = run(TokenGet(timeoutMilliseconds: 10_000), [failure(.unavailable, retry: 2_000)])
    #expect(try result.get().accessToken == "t")
    #expect(record.asked.count == 2 && (2_000...2_100).contains(record.asked[1].at))
    #expect(record.asked[1].request.timeoutMilliseconds == 10_000 - record.asked[1].at)
  }

  @Test(
    "Not beyond the time: three seconds for whoever named none, who is told the failure then",
    arguments: [nil, 4_000] as [Int?])
  func ends(_ milliseconds: Int?) {
    let failures = [AgentFailure](repeating: failure(.unavailable, retry: 1_900), count: 9)
    let (result, record) = run(TokenGet(timeoutMilliseconds: milliseconds), failures)
    #expect(record.asked.count == (milliseconds == nil ? 2 : 3) && record.now < milliseconds ?? 3_000)
    #expect(throws: CommandError.self) { try result.get() }
  }

  @Test(
    "What does not pass, or for which the agent names no time, is not asked again",
    arguments: [(FailureKind.loginRequired, 100), (.vaultLocked, 100), (.serverRefused, 100), (.unavailable, nil)]
      as [(FailureKind, Int?)])
  func stays(_ kind: FailureKind, _ retry: Int?) {
    let (_, record) = run(TokenGet(timeoutMilliseconds: 10_000), [failure(kind, retry: retry)])
    #expect(record.asked.count == 1)
  }

  @Test("Who used up the forced refreshes by asking again is told what went wrong first")
  func first() {
    let (result, _) = run(
      TokenGet(force: true, timeoutMilliseconds: 10_000),
      [failure(.unavailable, retry: 100), failure(.rateLimited, retry: 100)])
    guard case .failure(.agent(let told, _)) = result else {
      Issue.record("it was answered")
      return
    }
    #expect(told.kind == .unavailable)
  }
}
