import OAuthProtocol
import Sealing
import Testing

@testable import AgentCore

@Suite("Which revocation is next")
struct RevocationQueueTests {
  private let here = Self.revocation("here")
  private let there = Self.revocation("there")
  private let now = Moment.start

  private static func revocation(_ clientID: String) -> RevocationRecord {
    var binding = DefinitionBinding.plain
    binding.clientID = clientID
    return RevocationRecord(
      token: StoredSecret(Secret("r")), hint: "refresh_token", binding: binding, since: Moment.start)
  }

  private func later(_ seconds: Double) -> Moment { now.advanced(by: seconds) }

  @Test("one that a server does not take holds back none of another client")
  func lanes() {
    var queue = RevocationQueue()
    #expect(queue.begin([here, there], at: now) == here)
    #expect(queue.begin([here, there], at: now) == nil, "one at a time")
    #expect(queue.sending == here)
    queue.end { $0.fail("invalid_client", at: now.bootSeconds, spread: 0, least: 3_600) }
    #expect(queue.begin([here, there], at: now) == there)
    queue.succeed()
    #expect(queue.begin([here], at: later(2_699)) == nil)
    #expect(queue.time(of: [here], at: now) == now.bootSeconds + 2_700)
    #expect(queue.begin([here], at: later(2_700)) == here)
  }

  @Test("of those that somebody asks for, one whose server took the last one goes first")
  func asked() {
    var queue = RevocationQueue()
    _ = queue.begin([here], at: now)
    queue.end { $0.fail("no route", at: now.bootSeconds, spread: 0) }
    queue.holds = [RevocationQueue.Lane(here): .until(planned: .infinity, asked: .infinity, reason: "no route")]
    queue.ask(for: [here, there])
    #expect(queue.begin([here, there], at: now) == there && queue.isAskedFor)
    queue.succeed()
    #expect(queue.begin([here], at: now) == here && queue.isAskedFor, "whatever is known of its server")
    queue.end { $0.fail("no route", at: now.bootSeconds, spread: 0) }
    #expect(queue.time(of: [here], at: later(3_600)) == nil, "it was asked for once")
    queue.holds = [:]
    #expect(queue.begin([here], at: later(3_600)) == here && !queue.isAskedFor)
  }

  @Test("one whose end could not be noted waits, too")
  func storage() {
    var queue = RevocationQueue()
    _ = queue.begin([here], at: now)
    queue.succeed()
    queue.fail { $0.fail("the disk is full", at: now.bootSeconds, spread: 0) }
    #expect(queue.begin([here], at: now) == nil && queue.begin([there], at: now) == there)
  }
}
