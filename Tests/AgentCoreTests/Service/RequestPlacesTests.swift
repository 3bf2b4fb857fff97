import OAuthProtocol
import Testing

@testable import AgentCore

@Suite("The places of requests")
struct RequestPlacesTests {
  private static let (one, other) = (
    ServerRoute("https://one.example/token", HTTPRoute()), ServerRoute("https://other.example/token", HTTPRoute())
  )

  private func enqueue(_ places: inout RequestPlaces, _ name: String, at server: ServerRoute = one) -> UInt64 {
    let ticket = places.enqueue(server, .plan(due: 0))
    places.wait(ticket, .account(name))
    return ticket
  }

  private func name(_ waiter: RequestPlaces.Waiter?) -> String? {
    if case .account(let name)? = waiter { name } else { nil }
  }

  @Test("one turn at a time hands out places, and whoever has one waits no longer")
  func turns() {
    var places = RequestPlaces(RequestQueue(limit: 2))
    let (a, b) = (enqueue(&places, "a"), enqueue(&places, "b", at: Self.other))
    _ = enqueue(&places, "c")
    let begins = [places.beginTurn(), places.beginTurn()]
    #expect(begins == [true, false])
    let given = places.takeTurn()
    #expect(given.map(\.ticket) == [a, b] && given.map { name($0.waiter) } == ["a", "b"])
    #expect(places.isWaitedFor && places.withdraw(a) == nil)
    #expect(places.beginTurn() == true)
    places.release(a)
    #expect(places.takeTurn().map { name($0.waiter) } == ["c"])
    #expect(!places.isWaitedFor)
  }

  @Test("accounts leave the queue of a dead server, and of no other; requests of people stay")
  func deadServer() async {
    var places = RequestPlaces()
    _ = enqueue(&places, "a")
    _ = enqueue(&places, "b", at: Self.other)
    _ = enqueue(&places, "c")
    let login = places.enqueue(Self.one, .person)
    let isPlaced = await withCheckedContinuation { continuation in
      places.wait(login, .request(continuation))
      #expect(Set(places.withdrawAccounts(at: Self.one)) == ["a", "c"])
      for (_, waiter) in places.takeTurn() {
        if case .request(let continuation)? = waiter { continuation.resume(returning: true) }
      }
    }
    #expect(isPlaced)
    #expect(places.withdrawAccounts(at: Self.other).isEmpty, "b has its place")
  }

  @Test("nobody is left in the queue that was emptied, and what has its place keeps it")
  func empty() {
    var places = RequestPlaces(RequestQueue(limit: 1))
    let running = enqueue(&places, "running")
    _ = places.takeTurn()
    _ = enqueue(&places, "a")
    #expect(places.withdrawAll().map(name) == ["a"])
    #expect(!places.isWaitedFor && places.takeTurn().isEmpty)
    _ = enqueue(&places, "b")
    #expect(places.takeTurn().isEmpty)
    places.release(running)
    #expect(places.takeTurn().map { name($0.waiter) } == ["b"])
  }

  @Test("one that left before its waiter was known is told of without one")
  func noWaiter() {
    var places = RequestPlaces()
    let ticket = places.enqueue(Self.one, .person)
    let given = places.takeTurn()
    #expect(given.map(\.ticket) == [ticket] && given[0].waiter == nil)
  }
}

extension CredentialService {
  /// One place for all requests, which is taken from now on: whoever asks after this waits.
  func takeTheOnlyPlace() async throws -> Ticket {
    places = RequestPlaces(RequestQueue(limit: 1))
    return try #require(await place(.searches, .person))
  }

  var waitingForPlaces: Int { places.waitingCount }
}
