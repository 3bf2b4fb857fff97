import AgentWire
import Testing

@testable import AgentCore

@Suite("Those who wait for other things than tokens")
struct ServiceWaitersTests {
  /// Waits as a task of `body`'s table until that answers it, and its timer is over.
  private func wait(_ body: (TimedWait) -> Void) async {
    let timer = Task { while !Task.isCancelled { await Task.yield() } }
    await withCheckedContinuation { body(TimedWait(continuation: $0, timer: timer)) }
    await timer.value
  }

  @Test("each is answered when what it waits for has happened, and by nothing else")
  func events() async {
    var waiters = ServiceWaiters()
    await wait { task in
      waiters.add(task, 1, for: .revocation("work"))
      waiters.happened(.revocation("home"))
      waiters.happened(.idle)
      #expect(waiters.isAwaited(.revocation("work")) && !waiters.isAwaited(.idle))
      waiters.happened(.revocation("work"))
    }
    #expect(!waiters.isAwaited(.revocation("work")))
    waiters.happened(.revocation("work"))
  }

  @Test("one whose time is over is answered alone, and the last one leaves nothing behind")
  func time() async {
    var waiters = ServiceWaiters()
    await wait { first in
      waiters.add(first, 1, for: .clock(.searches))
      waiters.giveUp(2, .clock(.searches))
      waiters.giveUp(1, .idle)
      #expect(waiters.isAwaited(.clock(.searches)))
      waiters.giveUp(1, .clock(.searches))
    }
    #expect(!waiters.isAwaited(.clock(.searches)))
  }

  @Test("without accounts no change comes about: its asker is told of the lock, and a logout waits no longer")
  func lost() async {
    var waiters = ServiceWaiters()
    let failure = await withCheckedContinuation { continuation in
      waiters.changes.add(continuation, 1)
      waiters.loseAccounts()
    }
    #expect(failure?.kind == .vaultLocked)
    await wait { task in
      waiters.add(task, 2, for: .revocation("work"))
      waiters.loseAccounts()
    }
    await wait { task in
      waiters.add(task, 3, for: .idle)
      waiters.loseAccounts()
      #expect(waiters.isAwaited(.idle), "a lock waits for that itself")
      waiters.happened(.idle)
    }
  }
}
