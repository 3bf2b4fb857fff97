import AgentCore
import AgentWire
import CLinux
import Glibc
import Logging
import Synchronization

/// Takes callers in at one listening socket, and decides about each before a byte of it is read. Used on its loop only.
final class CallerAcceptor: DescriptorHandler {
  /// Taken in one turn, so that the connections that are there already are served in between.
  static let callersInTurn = 32
  /// How long nobody is taken in when nothing else helps: the kernel has no memory, or not even one descriptor is left.
  static let rest = LoopSpan.milliseconds(10)
  /// Unique in this agent's life, over all listeners.
  private static let numbers = Atomic<UInt64>(0)

  let table: ConnectionTable
  private let descriptor: Int32
  private let uid: UInt32
  private let responder: any LineResponder
  private let state: SocketListener.State
  private let logger: Logger
  private let accept: (Int32) -> Int32
  private let peer: (Int32) -> PeerIdentity?
  /// Nobody is taken in until then.
  private var resting: EventQueue.Timer?
  /// Given up to take in, tell and close a caller for whom there is no descriptor.
  private var reserve: Int32 = -1

  /// `descriptor` is the listening socket, which never blocks. `peer` tells who connected. `accept` is the kernel's,
  /// but for tests.
  init(
    descriptor: Int32, uid: UInt32, responder: any LineResponder, table: ConnectionTable,
    state: SocketListener.State, logger: Logger, accept: @escaping (Int32) -> Int32 = clinux_accept,
    peer: @escaping (Int32) -> PeerIdentity?
  ) {
    self.descriptor = descriptor
    self.uid = uid
    self.responder = responder
    self.table = table
    self.state = state
    self.logger = logger
    self.accept = accept
    self.peer = peer
    takeReserve()
  }

  deinit { giveReserve() }

  /// Begins to take callers in. False, with errno set, when the kernel cannot wait for them.
  func open() -> Bool { table.queue.add(descriptor, .reading, self) }

  /// Takes nobody in any more. The service manager keeps a socket that it handed over.
  func close() {
    // Later the number may be somebody else's.
    if let resting { table.queue.cancel(resting) }
    table.queue.close(descriptor, isShared: true)
  }

  func isReady(_ readiness: Interest) {
    for _ in 0..<Self.callersInTurn {
      let caller = accept(descriptor)
      guard caller >= 0 else {
        if errno != EAGAIN, errno != EINTR { acceptFailed(errno) }
        return
      }
      admit(caller)
    }
  }

  /// Serves a connection of our own user; closes that of any other.
  private func admit(_ descriptor: Int32) {
    let found = peer(descriptor)
    guard let found, found.uid == uid else {
      Glibc.close(descriptor)
      return refuse(found)
    }
    state.count { $0.accepted += 1 }
    let number = Self.numbers.add(1, ordering: .relaxed).newValue
    let caller = Caller(uid: found.uid, connection: number)
    CallerConnection(caller: caller, descriptor: descriptor, responder: responder, table: table).begin()
  }

  private func refuse(_ found: PeerIdentity?) {
    let count = state.count { $0.refusedPeers += 1 }.refusedPeers
    // At the powers of two, so that a flood does not fill the log.
    guard count & (count - 1) == 0 else { return }
    logger.notice(
      "refused a connection of another user",
      metadata: [
        "uid": "\(found.map { String($0.uid) } ?? "unknown")",
        "pid": "\(found.map { String($0.pid) } ?? "unknown")", "refused": "\(count)",
      ])
  }

  // MARK: When nobody can be taken in

  private func acceptFailed(_ code: Int32) {
    // That caller went by itself.
    if code == ECONNABORTED { return }
    let count = state.count { $0.acceptFailures += 1 }.acceptFailures
    if count & (count - 1) == 0 {
      logger.error(
        "cannot accept a connection",
        metadata: ["errno": "\(code)", "failures": "\(count)"])
    }
    if code == EMFILE || code == ENFILE, table.makeRoom() || turnAway() { return }
    table.queue.change(descriptor, to: [])
    resting = table.queue.schedule(at: table.queue.now + Self.rest) { [weak self] in
      guard let self else { return }
      table.queue.change(descriptor, to: .reading)
    }
  }

  /// Takes one caller out of the backlog, tells it and closes. False when there is no descriptor for that either.
  private func turnAway() -> Bool {
    giveReserve()
    defer { takeReserve() }
    let caller = accept(descriptor)
    guard caller >= 0 else { return errno == EAGAIN }
    defer { Glibc.close(caller) }
    if peer(caller)?.uid == uid {
      let refusal = AnswerLine.failure(nil, Refusals.noDescriptors)
      _ = send(caller, refusal, refusal.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
    }
    return true
  }

  private func takeReserve() { if reserve < 0 { reserve = Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC) } }

  private func giveReserve() {
    if reserve >= 0 { Glibc.close(reserve) }
    reserve = -1
  }
}
