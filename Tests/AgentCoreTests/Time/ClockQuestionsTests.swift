import Testing

@testable import AgentCore

@Suite("Which servers have still to tell the time")
struct ClockQuestionsTests {
  private func moment(_ boot: Double, boot id: String = "b") -> Moment {
    Moment(bootID: id, bootSeconds: boot, wallSeconds: 0)
  }

  private let plan = RequestPriority.plan(due: 10)

  @Test("the accounts of a server wait until it has told, and no others; after that for nothing")
  func told() {
    var clocks = ClockQuestions<String>()
    #expect(clocks.next == nil && clocks.counts(sentAt: moment(0)))
    _ = clocks.begin(at: moment(10), ["a": ["one", "two"], "b": ["three"]])
    clocks.ask("a", plan)
    clocks.queue("a", 7)
    #expect(clocks.next == "b" && !clocks.isUnasked("a") && clocks.isUnasked("b"))
    #expect(clocks.awaited(by: "two") == "a" && clocks.awaited(by: "three") == "b" && clocks.awaited(by: "four") == nil)
    #expect(clocks.tell("a")?.names == ["one", "two"])
    #expect(clocks.end("a") == .nothing)
    #expect(clocks.awaited(by: "two") == nil && clocks.isWaitedFor("b"))
    #expect(clocks.tell("a") == nil && !clocks.isUnasked("a"))
  }

  @Test("a server that does not answer is not waited for, and asked again after 5 s, 10 s, 20 s, up to 5 min")
  func silent() {
    var clocks = ClockQuestions<String>()
    _ = clocks.begin(at: moment(10), ["a": ["one"]])
    var waits: [Double] = []
    for _ in 1...9 {
      #expect(clocks.next == "a")
      clocks.ask("a", plan)
      if case .askLater(let seconds) = clocks.end("a") { waits.append(seconds) }
      #expect(clocks.awaited(by: "one") == nil && clocks["a"] != nil && clocks.next == nil)
      clocks.askAgain("a")
    }
    #expect(waits == [5, 10, 20, 40, 80, 160, 300, 300, 300])
  }

  @Test("eight are asked at once, and beside them one that somebody waits for")
  func many() {
    var clocks = ClockQuestions<Int>()
    _ = clocks.begin(at: moment(10), Dictionary(uniqueKeysWithValues: (1...20).map { ($0, ["\($0)"]) }))
    while let server = clocks.next { clocks.ask(server, plan) }
    let unasked = (1...20).filter(clocks.isUnasked)
    #expect(unasked.count == 12)
    clocks.ask(unasked[0], .person)
    let asked = (1...20).filter { !clocks.isUnasked($0) }
    #expect(clocks.end(asked[0]) == .askLater(5) && clocks.next == nil, "eight are asked still")
    #expect(clocks.end(asked[1]) == .askLater(5) && clocks.next != nil)
  }

  @Test("a question that somebody waits for moves forward, whether it is in the queue already or not")
  func hurried() {
    var clocks = ClockQuestions<String>()
    _ = clocks.begin(at: moment(10), ["a": ["one"]])
    #expect(clocks.hurry("a", .person) == nil)
    clocks.ask("a", plan)
    #expect(clocks.hurry("a", .caller(deadline: 20)) == nil && clocks.priority("a") == .caller(deadline: 20))
    clocks.queue("a", 7)
    #expect(clocks.hurry("a", .caller(deadline: 30)) == nil && clocks.hurry("a", .caller(deadline: 15)) == 7)
    #expect(clocks.priority("a") == .caller(deadline: 15))
  }

  @Test(
    "an account whose login ends while its server is asked is in doubt, too, and waits for no server that it has left")
  func joined() {
    var clocks = ClockQuestions<String>()
    _ = clocks.join("two", "a")
    _ = clocks.begin(at: moment(10), ["a": ["one"]])
    _ = clocks.join("two", "a")
    _ = clocks.join("two", "a")
    #expect(clocks.awaited(by: "two") == "a" && clocks["a"]?.names == ["one", "two"])
    #expect(clocks.join("two", "b") == "a")
    #expect(clocks.awaited(by: "two") == nil && clocks.tell("a")?.names == ["one"])
  }

  @Test("a question that a lock or a stop has kept from being asked is still to be asked")
  func givenUp() {
    var clocks = ClockQuestions<String>()
    _ = clocks.begin(at: moment(10), ["a": ["one"]])
    clocks.ask("a", plan)
    clocks.giveUp("a")
    #expect(clocks.next == "a" && clocks.awaited(by: "one") == "a")
  }

  @Test(
    "a clock that moves again while a server is asked has it asked again, and makes the earlier answer worth nothing")
  func again() {
    var clocks = ClockQuestions<String>()
    let first = clocks.begin(at: moment(10), ["a": ["one"]])
    clocks.ask("a", plan)
    #expect(clocks.isCurrent("a"))
    let second = clocks.begin(at: moment(12), ["a": ["one"]])
    #expect(!clocks.isCurrent("a") && clocks.next == nil, "one question at a time")
    #expect(!clocks.counts(sentAt: moment(11)) && clocks.counts(sentAt: moment(12)))
    #expect(!clocks.counts(sentAt: moment(20, boot: "a")))
    #expect(clocks.stopWaiting(for: first) == [] && clocks.isWaitedFor("a"))
    #expect(clocks.end("a") == .due && clocks.next == "a")
    #expect(clocks.stopWaiting(for: second) == ["a"] && !clocks.isWaitedFor("a") && clocks["a"] != nil)
  }

  @Test("accounts that are gone are in no doubt, and a question that is under way ends as any")
  func gone() {
    var clocks = ClockQuestions<String>()
    _ = clocks.begin(at: moment(10), ["a": ["one"]])
    clocks.ask("a", plan)
    clocks.forgetDoubts()
    #expect(clocks.awaited(by: "one") == nil && clocks["a"] == nil && clocks.next == nil)
    #expect(clocks.end("a") == .nothing)
  }
}
