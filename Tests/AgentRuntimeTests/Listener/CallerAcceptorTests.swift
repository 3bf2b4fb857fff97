import AgentWire
import CLinux
import Glibc
import Testing

@testable import AgentRuntime

@Suite("The acceptor for callers")
final class CallerAcceptorTests {
  private let folder: ScratchFolder
  private let listener: HandTurnedListener
  private let state = SocketListener.State()
  /// What the next accepts fail with; those after them are the kernel's.
  private var failures: [Int32] = []
  private var accepts = 0
  private var peerOf: (Int32) -> PeerIdentity? = PeerIdentity.of
  private var acceptor: CallerAcceptor?
  private var path: String { folder.path + "/agent.sock" }

  init() throws {
    folder = try ScratchFolder()
    listener = try HandTurnedListener(ScriptedResponder())
    let socket = try ListeningSocket.open(at: SocketLocation(path: path, source: .environment), uid: getuid())
    #expect(fcntl(socket.descriptor, F_SETFL, O_NONBLOCK) == 0)
    #expect(listen(socket.descriptor, 4 * Int32(CallerAcceptor.callersInTurn)) == 0)
    let acceptor = CallerAcceptor(
      descriptor: socket.descriptor, uid: getuid(), responder: ScriptedResponder(),
      table: listener.table, state: state, logger: .silent, accept: { [unowned self] in accept($0) },
      peer: { [unowned self] in peerOf($0) })
    self.acceptor = acceptor
    #expect(acceptor.open())
  }

  deinit { acceptor?.close() }

  private func accept(_ descriptor: Int32) -> Int32 {
    accepts += 1
    guard let failure = failures.first else { return clinux_accept(descriptor) }
    failures.removeFirst()
    errno = failure
    return -1
  }

  private func call(_ count: Int) throws -> [FarEnd] { try (0..<count).map { _ in try FarEnd(path: path) } }

  @Test("Callers are taken in, and what they sent before is answered in the same turn")
  func takesIn() throws {
    let caller = try FarEnd(path: path)
    caller.send(Lines.ready(1))
    listener.turn()
    #expect(caller.text == "ready\n" && !caller.isEnded)
    #expect(state.snapshot == SocketListener.Counts(accepted: 1, refusedPeers: 0, acceptFailures: 0))
    listener.turn()
    #expect(accepts == 2)
  }

  @Test("Whoever has left disturbs nobody; whoever has only ended its sending is answered")
  func left() throws {
    func leave() throws {
      let caller = try FarEnd(path: path)
      caller.send(Lines.ready(1))
      caller.leave()
    }
    try leave()
    let staying = try FarEnd(path: path)
    try leave()
    let ended = try FarEnd(path: path)
    ended.send(Lines.ready(1))
    ended.endSending()
    try leave()
    listener.turn()
    listener.turn()
    #expect(listener.table.count == 1)
    #expect(ended.text == "ready\n" && ended.wasClosed)
    staying.send(Lines.ready(2))
    listener.turn()
    #expect(staying.text == "ready\n" && !staying.isEnded)
    #expect(state.snapshot.acceptFailures == 0)
  }

  @Test("Those who wait behind as many as are taken in one turn wait for the next")
  func bounded() throws {
    let callers = try call(CallerAcceptor.callersInTurn + 3)
    listener.turn()
    #expect(listener.table.count == CallerAcceptor.callersInTurn)
    listener.turn()
    #expect(listener.table.count == callers.count)
  }

  @Test(
    "Another user, or one the kernel does not tell, is closed before a byte is read",
    arguments: [PeerIdentity(uid: getuid() &+ 1, pid: 1), nil])
  func otherUser(_ peer: PeerIdentity?) throws {
    peerOf = { _ in peer }
    let caller = try FarEnd(path: path)
    caller.send(Lines.ready(1))
    listener.turn()
    #expect(caller.wasClosed && caller.text == "")
    #expect(state.snapshot == SocketListener.Counts(accepted: 0, refusedPeers: 1, acceptFailures: 0))
    #expect(listener.table.count == 0)
  }

  @Test("A closed acceptor takes nobody in, and leaves those who wait to the next one")
  func closed() throws {
    // Resting, or not.
    failures = [ENOMEM]
    let caller = try FarEnd(path: path)
    listener.turn()
    acceptor?.close()
    acceptor = nil
    listener.turn(after: CallerAcceptor.rest)
    #expect(accepts == 1 && listener.table.count == 0)
    #expect(caller.wasClosed)
  }

  // MARK: When nobody can be taken in

  @Test("Out of descriptors, the one idle longest makes room, and the caller is taken in", arguments: [EMFILE, ENFILE])
  func makesRoom(_ code: Int32) throws {
    let old = try FarEnd(path: path)
    listener.turn()
    listener.turn(after: .seconds(1))
    let next = try FarEnd(path: path)
    listener.turn()
    failures = [code]
    let caller = try FarEnd(path: path)
    caller.send(Lines.ready(1))
    listener.turn()
    #expect(old.wasClosed && !next.isEnded)
    listener.turn()
    #expect(caller.text == "ready\n" && !caller.isEnded)
    #expect(state.snapshot.acceptFailures == 1)
  }

  @Test("When nobody makes room, the caller is told, if it is ours, and closed", arguments: [true, false])
  func turnsAway(_ isOurs: Bool) throws {
    if !isOurs { peerOf = { _ in PeerIdentity(uid: getuid() &+ 1, pid: 1) } }
    failures = [EMFILE]
    let callers = try call(2)
    callers[0].send(Lines.ready(1))
    listener.turn()
    #expect(callers[0].wasClosed)
    #expect(callers[0].lines.count == (isOurs ? 1 : 0))
    if isOurs { #expect(callers[0].text.contains("overloaded") && callers[0].text.contains("no file descriptor")) }
    #expect(!callers[1].isEnded && listener.table.count == 0)
    // The next turn is as any other.
    listener.turn()
    #expect(listener.table.count == (isOurs ? 1 : 0))
    #expect(state.snapshot.acceptFailures == 1)
  }

  @Test("That the caller is gone when it is to be turned away is no reason to rest")
  func goneMeanwhile() throws {
    let caller = try FarEnd(path: path)
    failures = [EMFILE, EAGAIN]
    listener.turn()
    listener.turn()
    #expect(listener.table.count == 1 && !caller.isEnded)
  }

  @Test(
    "When nothing helps, nobody is taken in for 10 ms; then as before",
    arguments: [[EMFILE, EMFILE], [ENOMEM], [ENOBUFS]])
  func rests(_ codes: [Int32]) throws {
    failures = codes
    let caller = try FarEnd(path: path)
    listener.turn()
    #expect(accepts == codes.count)
    for _ in 0..<3 {
      listener.turn(after: .milliseconds(3))
      #expect(listener.queue.readyInTurn == 0)
    }
    #expect(accepts == codes.count)
    listener.turn(after: .milliseconds(1))
    listener.turn()
    #expect(listener.table.count == 1 && !caller.isEnded)
    #expect(state.snapshot.acceptFailures == 1)
  }

  @Test("A caller that went by itself, or a signal, is no failure", arguments: [ECONNABORTED, EINTR])
  func noFailure(_ code: Int32) throws {
    failures = [code]
    let caller = try FarEnd(path: path)
    listener.turn()
    listener.turn()
    #expect(listener.table.count == 1 && !caller.isEnded)
    #expect(state.snapshot.acceptFailures == 0)
  }

  @Test("At the bound of connections, where each is owed an answer, the caller is told and closed")
  func notAdmitted() throws {
    var limits = ListenerLimits()
    limits.connections = 0
    let full = try HandTurnedListener(ScriptedResponder(), limits: limits)
    let caller = try full.connect()
    #expect(caller.wasClosed && caller.text.contains("too many connections"))
    #expect(full.table.count == 0)
  }
}
