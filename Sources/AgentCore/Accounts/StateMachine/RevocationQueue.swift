/// Which of an account's revocations is sent next, and when. One at a time is under way; what one server does not take holds
/// back nothing that another is to be told, or another client's.
package struct RevocationQueue: Sendable {
  /// The revocations of one client at one server, by one way there: they go in their order.
  package struct Lane: Sendable, Hashable {
    private let issuer: String
    private let clientID: String
    private let route: ServerRoute

    package init(_ revocation: RevocationRecord) {
      (issuer, clientID) = (revocation.binding.issuer, revocation.binding.clientID)
      route = ServerRoute(revocation)
    }
  }

  /// The one under way.
  @Boxed package private(set) var sending: RevocationRecord?
  /// Somebody has asked for the one under way, or for the last one.
  package private(set) var isAskedFor = false
  /// What keeps a lane's server from being asked.
  package var holds: [Lane: ServerHold] = [:]
  private var backoffs: [Lane: Backoff] = [:]
  /// Lanes that somebody has asked for: tried at once, whatever is known of their servers.
  private var asked: Set<Lane> = []
  @Boxed private var last: Lane?

  /// Asks for the lanes of `revocations`.
  package mutating func ask(for revocations: [RevocationRecord]) { asked.formUnion(revocations.map(Lane.init)) }

  /// Boot time of the next one of `heads`, the first of each lane; nil: none is due, or it waits for the end of another
  /// account's request.
  package func time(of heads: [RevocationRecord], at now: Moment) -> Double? {
    heads.compactMap { time(of: Lane($0), at: now) }.min()
  }

  /// The one of `heads` that is sent now: one whose server took the last one goes first.
  package mutating func begin(_ heads: [RevocationRecord], at now: Moment) -> RevocationRecord? {
    let due = heads.filter { time(of: Lane($0), at: now).map { $0 <= now.bootSeconds } == true }
    guard let next = due.first(where: { backoffs[Lane($0)] == nil }) ?? due.first else { return nil }
    let lane = Lane(next)
    sending = next
    isAskedFor = asked.remove(lane) != nil
    last = lane
    return next
  }

  /// The one under way has ended, and was taken.
  package mutating func succeed() {
    sending = nil
    if let last { backoffs[last] = nil }
  }

  /// It has ended and is tried again, at a time that `fail` says, else at once.
  package mutating func end(_ fail: (inout Backoff) -> Void = { _ in }) {
    sending = nil
    self.fail(fail)
  }

  /// The last one is to be tried again, or its end to be noted again, not before a time that `fail` says.
  package mutating func fail(_ fail: (inout Backoff) -> Void) {
    if let last { fail(&backoffs[last, default: Backoff()]) }
  }

  private func time(of lane: Lane, at now: Moment) -> Double? {
    guard sending == nil else { return nil }
    guard !asked.contains(lane) else { return now.bootSeconds }
    let planned = backoffs[lane]?.plannedAt ?? now.bootSeconds
    switch holds[lane] {
    case .probing: return nil
    // Until then the server's own deadline counts.
    case .until(let serverPlanned, _, _) where serverPlanned > now.bootSeconds: return nil
    case nil, .until, .lender: return planned
    }
  }
}
