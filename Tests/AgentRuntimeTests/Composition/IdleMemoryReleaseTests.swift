import Testing

@testable import AgentRuntime

@Suite("Memory that is handed back")
struct IdleMemoryReleaseTests {
  private enum Event { case sleeps, givesBack }

  @Test("Not while callers wait for answers, and once for all who said that there is some")
  func owed() async {
    let owed = PendingAnswers()
    let (events, tell) = AsyncStream.makeStream(of: Event.self)
    let (wakes, wake) = AsyncStream.makeStream(of: Void.self)
    var next = events.makeAsyncIterator()
    let pages = IdleMemoryRelease(
      owed: owed,
      sleep: { _ in
        tell.yield(.sleeps)
        for await _ in wakes { break }
      }, giveBack: { tell.yield(.givesBack) })
    owed.change(by: 1)
    pages.giveBackSoon()
    pages.giveBackSoon()
    #expect(await next.next() == .sleeps)
    wake.yield()
    #expect(await next.next() == .sleeps, "somebody waits for an answer")
    owed.change(by: -1)
    wake.yield()
    #expect(await next.next() == .givesBack)
    pages.giveBackSoon()
    #expect(await next.next() == .sleeps, "what came later is given back later")
    wake.yield()
    #expect(await next.next() == .givesBack)
  }
}
