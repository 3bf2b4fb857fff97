import Glibc
import Logging
import NIOCore
import NIOPosix

/// Lets connections of our own user reach a redirect listener, and those of nobody else: who answers the redirect decides
/// whose account the login is. Used on its event loop only.
///
/// All that come while the tables are read share the next reading, and when many wait, no more are accepted until it is
/// done: so a stranger who connects again and again delays the user for some readings, and does not take the user's place.
final class RedirectDoor {
  struct Stranger: Error {}

  private struct Arrival {
    let ends: ConnectionEnds
    let promise: EventLoopPromise<Void>
  }

  private let uid: UInt32
  private let owners: SocketOwners
  private let limit: Int
  private let logger: Logger
  private let eventLoop: any EventLoop
  private var waiting: [Arrival] = []
  private var isReading = false
  /// The listening channel, while it accepts nobody.
  private var paused: (any Channel)?
  private(set) var refused = 0

  init(uid: UInt32, owners: SocketOwners, limit: Int, logger: Logger, eventLoop: any EventLoop) {
    self.uid = uid
    self.owners = owners
    self.limit = limit
    self.logger = logger
    self.eventLoop = eventLoop
  }

  /// Fails for a connection that is not to be served. No byte of it is read before.
  func admit(_ channel: any Channel) -> EventLoopFuture<Void> {
    let ends =
      try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
        ConnectionEnds(accepted: $0)
      } ?? nil
    let promise = eventLoop.makePromise(of: Void.self)
    if let ends, waiting.count < limit {
      waiting.append(Arrival(ends: ends, promise: promise))
      readNext()
      // A few more may have been accepted together with this one.
      if waiting.count >= limit / 2 { pause(channel.parent) }
    } else {
      refuse(promise, .unknown(ends == nil ? "it has gone" : "too many connections at once"))
    }
    return promise.futureResult
  }

  /// One reading at a time, for all that wait.
  private func readNext() {
    guard !isReading, !waiting.isEmpty else { return }
    isReading = true
    let arrivals = waiting
    waiting = []
    let (owners, ends) = (owners, arrivals.map(\.ends))
    eventLoop.makeFutureWithTask { await onOwnThread { owners.clients(of: ends) } }
      .assumeIsolated()
      .whenComplete { result in
        self.isReading = false
        for (place, arrival) in arrivals.enumerated() {
          let owner = (try? result.get())??[place] ?? .unknown("no thread left to read the tables")
          if owner == .user(self.uid) { arrival.promise.succeed() } else { self.refuse(arrival.promise, owner) }
        }
        self.readNext()
        self.goOn()
      }
  }

  private func pause(_ listener: (any Channel)?) {
    guard paused == nil, let listener, let options = listener.syncOptions else { return }
    paused = listener
    try? options.setOption(.autoRead, value: false)
  }

  private func goOn() {
    let listener = paused
    paused = nil
    try? listener?.syncOptions?.setOption(.autoRead, value: true)
  }

  private func refuse(_ promise: EventLoopPromise<Void>, _ owner: SocketOwners.Owner) {
    refused += 1
    // At the powers of two, so that a flood does not fill the log.
    if refused & (refused - 1) == 0 {
      var about: Logger.Metadata = ["event": "redirect_refused", "refused": "\(refused)"]
      switch owner {
      case .user(let uid): about["uid"] = "\(uid)"
      case .unknown(let reason): about.merge(["uid": "unknown", "reason": "\(reason)"]) { $1 }
      }
      logger.notice("refused a connection to the redirect listener of a login: not our own user's", metadata: about)
    }
    promise.fail(Stranger())
  }
}
