import FetchWire
import NIOCore
import NIOHTTP1
import NIOPosix

/// Takes browsers' connections, and does with them what the agent says. Used on its event loop only.
final class BrowserListener {
  private let loop: any EventLoop
  private let conversation: AgentConversation
  /// Nil before the agent's first order.
  private var table: ConnectionTable?
  private var admission: Admission?
  private var listener: (any Channel)?

  /// Waits for the agent's orders on descriptor 0.
  static func begin(on loop: any EventLoop) {
    let holder = Holder()
    let conversation = AgentConversation { holder.listener?.follow($0) }
    let listener = BrowserListener(loop: loop, conversation: conversation)
    holder.listener = listener
    let bound = NIOLoopBound(conversation, eventLoop: loop)
    ClientBootstrap(group: loop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(bound.value) }
      }
      .withConnectedSocket(0)
      .whenFailure { _ in endProcess() }
  }

  private final class Holder { var listener: BrowserListener? }

  private init(loop: any EventLoop, conversation: AgentConversation) {
    self.loop = loop
    self.conversation = conversation
  }

  static func endProcess() -> Never { _exit(0) }

  private func follow(_ order: RedirectOrder) {
    switch order {
    case .begin(let limits, let certificate): open(limits, certificate)
    case .admit(let number): admission?.settle(number, isAdmitted: true)
    case .refuse(let number): admission?.settle(number, isAdmitted: false)
    case .answer(let number, let reply): table?.answer(number, reply)
    case .finish: finish()
    }
  }

  /// Begins to take connections at descriptor 1.
  private func open(_ limits: RedirectLimits, _ certificate: RedirectCertificate?) {
    guard table == nil else { Main.end("the agent began twice") }
    let tls: BrowserTLS?
    do throws(RedirectCertificateProblem) {
      tls = try certificate.map { (found) throws(RedirectCertificateProblem) in try BrowserTLS(found, now: time(nil)) }
    } catch { Main.end(.unusable(error)) }
    if let tls { conversation.tell(.certificateEnd(tls.end)) }
    let conversation = conversation
    let table = ConnectionTable(limits: limits) { conversation.tell($0) }
    let admission = Admission(limit: limits.lookups, loop: loop) { conversation.tell($0) }
    (self.table, self.admission) = (table, admission)
    loop.scheduleTask(in: .milliseconds(Int64(limits.lifeMilliseconds))) { Self.endProcess() }
    let (boundServing, boundAdmission) = (
      NIOLoopBound((table, tls), eventLoop: loop), NIOLoopBound(admission, eventLoop: loop)
    )
    ServerBootstrap(group: loop)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(ReserveDescriptorHandler())
        }
      }
      .childChannelInitializer { channel in
        boundAdmission.value.ask(channel).flatMapThrowing { number in
          let (table, tls) = boundServing.value
          try Self.addHandlers(to: channel, BrowserConnection(number: number, table: table), tls)
        }
      }
      .withBoundSocket(1)
      .assumeIsolated()
      .whenComplete { result in
        switch result {
        case .success(let channel):
          self.listener = channel
          self.conversation.tell(.ready)
        case .failure(let error): Main.end("oauthd-redirect cannot take connections: \(error)")
        }
      }
  }

  /// Sets one connection up. The handshake is part of the time and of the places that its request has.
  static func addHandlers(to channel: any Channel, _ connection: BrowserConnection, _ tls: BrowserTLS? = nil) throws {
    if let tls { try channel.pipeline.syncOperations.addHandler(tls.handler()) }
    try channel.pipeline.syncOperations.addHandlers(
      RequestSizeLimit(bytes: connection.limits.requestBytes),
      HTTPResponseEncoder(),
      ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes)),
      connection)
  }

  private func finish() {
    guard let listener, let table, let admission else { Self.endProcess() }
    admission.close()
    listener.close().assumeIsolated().whenComplete { _ in
      self.conversation.tell(.closed)
      table.finish { Self.endProcess() }
    }
  }
}
