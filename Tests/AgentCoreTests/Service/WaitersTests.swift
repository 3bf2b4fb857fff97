import Testing

@testable import AgentCore

@Suite("Those who wait for an answer")
struct WaitersTests {
  private func waiters() -> Waiters<String> {
    var waiters = Waiters<String>()
    for (id, name) in ["anna", "ben", "carl"].enumerated() {
      waiters.add(name, UInt64(id))
      waiters.limit(UInt64(id), to: Double(30 - id * 10))
    }
    return waiters
  }

  @Test("each is answered once, by whoever comes first")
  func once() {
    var waiters = waiters()
    #expect(waiters.take(1) == "ben")
    #expect(waiters.take(1) == nil && !waiters.contains(1))
    #expect(Set(waiters.takeAll()) == ["anna", "carl"])
    #expect(waiters.isEmpty && waiters.takeAll().isEmpty && waiters.take(0) == nil)
  }

  @Test("the first deadline is that of somebody who still waits")
  func firstDeadline() {
    var waiters = waiters()
    #expect(waiters.firstDeadline() == 10)
    _ = waiters.take(2)
    #expect(waiters.firstDeadline() == 20)
    waiters.add("dora", 7)
    _ = waiters.take(0)
    _ = waiters.take(1)
    #expect(waiters.firstDeadline() == nil, "she has no deadline")
  }

  @Test("who has no patience left is told of once, and waits until it is answered")
  func overdue() {
    var waiters = waiters()
    _ = waiters.take(2)
    #expect(waiters.overdue(at: 20).map(\.waiter) == ["ben"])
    #expect(waiters.overdue(at: 20).isEmpty && waiters.contains(1))
    #expect(waiters.overdue(at: 29.9).isEmpty)
    #expect(waiters.overdue(at: 30).map(\.id) == [0])
    #expect(waiters.count == 2)
  }

  @Test("those who were answered long before their deadline leave little behind, and the last one nothing")
  func deadEntries() {
    var waiters = Waiters<Int>()
    waiters.add(0, 0)
    for id in 1..<10_000 as Range<UInt64> {
      waiters.add(1, id)
      waiters.limit(id, to: 600)
      _ = waiters.take(id)
    }
    #expect(waiters.deadlineCount < 100)
    _ = waiters.take(0)
    #expect(waiters.deadlineCount == 0)
  }

  @Test("a task that is answered is resumed, and its timer is over", arguments: [false, true])
  func task(all: Bool) async {
    var timer: Task<Void, Never>?
    await withCheckedContinuation { continuation in
      let task = Task { while !Task.isCancelled { await Task.yield() } }
      timer = task
      var waiters = Waiters<TimedWait>()
      waiters.add(TimedWait(continuation: continuation, timer: task), 1)
      all ? waiters.answerAll() : waiters.answer(1)
      waiters.answer(1)
    }
    await timer?.value
    #expect(timer?.isCancelled == true)
  }
}
