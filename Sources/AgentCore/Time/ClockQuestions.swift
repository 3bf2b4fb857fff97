/// Which servers have still to tell what time it is, since the wall clock has moved beside the boot clock.
///
/// The accounts of such a server wait, but for a few seconds at most. It is asked again until it has told, since its tokens
/// may be older than the boot clock knows: a machine that was paused often has its network back later than its wall clock.
package struct ClockQuestions<Server: Hashable & Sendable>: Sendable {
  /// A server that has not told.
  package struct Doubt: Sendable {
    /// The accounts whose tokens are concerned.
    fileprivate(set) package var names: [String]
    fileprivate let round: Int
    /// Nothing of its accounts is given or sent.
    fileprivate(set) package var isWaitedFor = true
    /// It is to be asked.
    fileprivate var isDue = true
    /// Questions since then that brought no answer.
    fileprivate var failures = 0
  }

  /// What follows when a question has ended.
  package enum Next: Sendable, Equatable {
    /// The server has told, or its accounts are gone.
    case nothing
    /// The clock has moved since it was asked: it is to be asked again.
    case due
    /// It is waited for no longer, and asked again in so many seconds.
    case askLater(Double)
  }

  /// Servers that are asked at once while nobody waits for what they tell: hundreds of silent ones leave the places of requests
  /// to others.
  private static var limit: Int { 8 }
  /// Seconds to the second question, which double with each, up to the last.
  private static var retrySeconds: ClosedRange<Double> { 5...300 }

  /// How often the wall clock has moved.
  package private(set) var round = 0
  /// When that was noticed last; nil: it has not moved.
  package private(set) var noticed: Moment?
  private var doubts: [Server: Doubt] = [:]
  /// The server of each account in ``Doubt/names``.
  private var servers: [String: Server] = [:]
  /// The servers that are asked just now.
  private var questions: [Server: Question] = [:]

  private struct Question {
    let round: Int
    var priority: RequestPriority
    /// Nil: it is not in the queue yet.
    var ticket: UInt64?
  }

  package init() {}

  /// The wall clock has moved. `names` are the accounts of each server whose time counts. Returns the round.
  package mutating func begin(at noticed: Moment, _ names: [Server: [String]]) -> Int {
    round += 1
    self.noticed = noticed
    let round = round
    doubts = names.mapValues { Doubt(names: $0, round: round) }
    servers = [:]
    for (server, names) in names { for name in names { servers[name] = server } }
    return round
  }

  package subscript(server: Server) -> Doubt? { doubts[server] }

  package func isWaitedFor(_ server: Server) -> Bool { doubts[server]?.isWaitedFor == true }

  /// The server that the account `name` waits for: the one that gave what it had when the clock moved.
  package func awaited(by name: String) -> Server? { servers[name].flatMap { isWaitedFor($0) ? $0 : nil } }

  /// The next server to be asked; nil: none, or enough are.
  package var next: Server? {
    questions.count < Self.limit ? doubts.first { $0.value.isDue && questions[$0.key] == nil }?.key : nil
  }

  /// `server` is asked, once it has a place by `priority`.
  package mutating func ask(_ server: Server, _ priority: RequestPriority) {
    doubts[server]?.isDue = false
    questions[server] = Question(round: round, priority: priority)
  }

  /// The question waits for its place by `ticket`.
  package mutating func queue(_ server: Server, _ ticket: UInt64) { questions[server]?.ticket = ticket }

  /// Somebody waits for the answer. Returns the ticket that is to move forward, where there is one.
  package mutating func hurry(_ server: Server, _ priority: RequestPriority) -> UInt64? {
    guard let question = questions[server], priority < question.priority else { return nil }
    questions[server]?.priority = priority
    return question.ticket
  }

  /// By which the question that is asked just now waits.
  package func priority(_ server: Server) -> RequestPriority? { questions[server]?.priority }

  /// Whether somebody waits for a server that is not asked yet. One that is asked does not answer any faster for a second
  /// question.
  package func isUnasked(_ server: Server) -> Bool {
    doubts[server]?.isWaitedFor == true && questions[server] == nil
  }

  /// The time has come to ask `server` again.
  package mutating func askAgain(_ server: Server) { doubts[server]?.isDue = true }

  /// Whether the clock has not moved since `server` was asked.
  package func isCurrent(_ server: Server) -> Bool { questions[server]?.round == round }

  /// The question has ended. What the server has told is taken before, by ``tell(_:)``.
  package mutating func end(_ server: Server) -> Next {
    guard let question = questions.removeValue(forKey: server), let doubt = doubts[server] else { return .nothing }
    guard question.round == doubt.round else { return .due }
    doubts[server]?.isWaitedFor = false
    doubts[server]?.failures += 1
    let most = Self.retrySeconds.upperBound
    return .askLater(min(most, Self.retrySeconds.lowerBound * Double(1 << min(doubt.failures, 8))))
  }

  /// The question has ended, and nothing follows for now: the server is still to be asked.
  package mutating func giveUp(_ server: Server) {
    questions[server] = nil
    doubts[server]?.isDue = true
  }

  /// Whether the time counts that an answer tells whose request was sent at `sent`: not where the clock has moved since.
  package func counts(sentAt sent: Moment) -> Bool {
    noticed.map { sent.bootID == $0.bootID && sent.bootSeconds >= $0.bootSeconds } ?? true
  }

  /// `server` has told the time. Returns what was in doubt.
  package mutating func tell(_ server: Server) -> Doubt? { doubts.removeValue(forKey: server) }

  /// What `name` has from now on is `server`'s: it may be of before the clock moved, where that has not told the time, and it
  /// waits for no other. Returns the server that it waited for.
  package mutating func join(_ name: String, _ server: Server) -> Server? {
    guard servers[name] != server else { return nil }
    let former = servers.removeValue(forKey: name)
    if let former { doubts[former]?.names.removeAll { $0 == name } }
    guard doubts[server] != nil else { return former }
    doubts[server]?.names.append(name)
    servers[name] = server
    return former
  }

  /// The servers of `round`, and of those before it, that have not told are waited for no longer. Returns them.
  package mutating func stopWaiting(for round: Int) -> [Server] {
    let late = doubts.filter { $0.value.round <= round && $0.value.isWaitedFor }.map(\.key)
    for server in late { doubts[server]?.isWaitedFor = false }
    return late
  }

  /// The accounts are gone.
  package mutating func forgetDoubts() { (doubts, servers) = ([:], [:]) }
}
