import Logging

/// Lets connections of our own user reach a redirect listener, and those of nobody else: who answers the redirect decides
/// whose account the login is. Used on its loop only.
///
/// All that come while the tables are read share the next reading, so that a stranger who connects again and again delays
/// the user for some readings, and does not take the user's place.
final class RedirectAcceptor {
  /// Where it is decided, and whose connections are let in.
  struct Place: Sendable {
    let server: SocketEnd
    let uid: UInt32
    let owners: SocketOwners
    /// Connections that may wait for a reading.
    let limit: Int
    let loop: ServingLoop
    let logger: Logger
  }

  private let place: Place
  private let queue: EventQueue
  /// Told whether a connection is our own user's.
  private let decide: (_ connection: UInt32, _ isOurs: Bool) -> Void
  private var waiting: [(connection: UInt32, ends: ConnectionEnds)] = []
  private var isReading = false
  private(set) var refused = 0

  init(_ place: Place, queue: EventQueue, decide: @escaping (_ connection: UInt32, _ isOurs: Bool) -> Void) {
    self.place = place
    self.queue = queue
    self.decide = decide
  }

  /// Decides about a connection from `client`; nil where that is no address.
  func ask(_ connection: UInt32, from client: SocketEnd?) {
    guard let client, waiting.count < place.limit else {
      return refuse(connection, .unknown(client == nil ? "it has no address" : "too many connections at once"))
    }
    waiting.append((connection, ConnectionEnds(client: client, server: place.server)))
    readNext()
  }

  /// One reading at a time, for all that wait.
  private func readNext() {
    guard !isReading, !waiting.isEmpty else { return }
    isReading = true
    let (arrivals, place) = (waiting, place)
    waiting = []
    let ends = arrivals.map(\.ends)
    let bound = LoopBound(self, queue)
    Task {
      let found = await onOwnThread { place.owners.clients(of: ends) }
      place.loop.execute { bound.value(on: $0).settle(arrivals.map(\.connection), found) }
    }
  }

  private func settle(_ connections: [UInt32], _ found: [SocketOwners.Owner]?) {
    isReading = false
    for (index, connection) in connections.enumerated() {
      let owner = found?[index] ?? .unknown("no thread left to read the tables")
      if owner == .user(place.uid) { decide(connection, true) } else { refuse(connection, owner) }
    }
    readNext()
  }

  private func refuse(_ connection: UInt32, _ owner: SocketOwners.Owner) {
    refused += 1
    // At the powers of two, so that a flood does not fill the log.
    if refused & (refused - 1) == 0 {
      var about: Logger.Metadata = ["event": "redirect_refused", "refused": "\(refused)"]
      switch owner {
      case .user(let uid): about["uid"] = "\(uid)"
      case .unknown(let reason): about.merge(["uid": "unknown", "reason": "\(reason)"]) { $1 }
      }
      place.logger.notice(
        "refused a connection to the redirect listener of a login: not our own user's", metadata: about)
    }
    decide(connection, false)
  }
}
