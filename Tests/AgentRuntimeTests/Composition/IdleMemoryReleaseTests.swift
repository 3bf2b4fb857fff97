import CLinux
import Glibc
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

  @Test(
    "What deeper calls have left on the thread's stack, too",
    .enabled(if: dlsym(nil, "__asan_init") == nil, "The address sanitizer has a stack of its own."))
  func stack() async {
    let pages = await onOwnThread { () -> (before: Int, after: Int) in
      _ = deepen(128)
      let before = residentStackPages()
      clinux_give_back_idle_pages()
      return (before, residentStackPages())
    }
    guard let pages else { return #expect(Bool(false), "no thread") }
    #expect(pages.before >= 32 && (0..<8).contains(pages.after), "\(pages)")
  }
}

/// Uses more than a KiB of the stack for each call, and gives something that depends on it.
@inline(never) private func deepen(_ calls: Int) -> Int {
  withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1_024) { bytes in
    bytes.initialize(repeating: UInt8(calls))
    return calls == 0 ? 0 : deepen(calls - 1) + Int(bytes[calls])
  }
}

/// Of the 40 pages of the calling thread's stack that end here, those that are in memory.
@inline(never) private func residentStackPages() -> Int {
  var pages = [UInt8](repeating: 0, count: 40)
  let size = Int(getpagesize())
  var here = 0
  let end = withUnsafeMutablePointer(to: &here) { UnsafeMutableRawPointer($0).alignedDown(toMultipleOf: size) }
  guard mincore(end - pages.count * size, pages.count * size, &pages) == 0 else { return -1 }
  return pages.count { $0 & 1 == 1 }
}
