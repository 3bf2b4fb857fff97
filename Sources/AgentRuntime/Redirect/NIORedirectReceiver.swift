package import AgentCore
import Glibc
package import Logging
import NIOCore
import NIOHTTP1
import NIOPosix

/// Opens loopback redirect listeners (RFC 8252 §7.3), all on one event loop, which is started for the first.
///
/// Only connections of our own user are served: another user who answered the redirect first would log us in as himself.
/// Only GET requests whose Host is this computer's loopback address and the bound port reach `onHit`; all others are
/// answered here and end no login. After `loggedIn` or `refused` the browser is sent to a clean address, whose page
/// tells how it went. Answers must be returned before ``RedirectListening/close()`` is awaited: it waits for them.
package struct NIORedirectReceiver: RedirectReceiver {
  private let limits: RedirectLimits
  private let uid: UInt32
  private let logger: Logger
  private let owners = SocketOwners()

  package init(limits: RedirectLimits = RedirectLimits(), uid: UInt32, logger: Logger) {
    self.limits = limits
    self.uid = uid
    self.logger = logger
  }

  package func listen(
    host: String, port: Int, onHit: @escaping @Sendable (RedirectHit) async -> RedirectPage
  ) async throws -> any RedirectListening {
    guard (0...65_535).contains(port), host == "::1" || host.hasPrefix("127."),
      let address = try? SocketAddress(ipAddress: host, port: port)
    else { throw RedirectListenerError("\(host) port \(port) is no loopback address to listen on") }
    let (eventLoop, limits) = (MultiThreadedEventLoopGroup.singleton.next(), limits)
    let (uid, owners, logger) = (uid, owners, logger)
    do {
      let session = try await eventLoop.submit {
        NIOLoopBound(RedirectSession(eventLoop: eventLoop, limits: limits, onHit: onHit), eventLoop: eventLoop)
      }.get()
      let door = try await eventLoop.submit {
        NIOLoopBound(
          RedirectDoor(uid: uid, owners: owners, limit: limits.lookups, logger: logger, eventLoop: eventLoop),
          eventLoop: eventLoop)
      }.get()
      let channel = try await ServerBootstrap(group: eventLoop)
        // A fixed port may be bound again right after a login; a socket that listens there still keeps it.
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .serverChannelOption(.backlog, value: Int32(limits.lookups))
        .serverChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(AcceptRescue())
          }
        }
        .childChannelInitializer { channel in
          door.value.admit(channel).flatMapThrowing { try Self.addHandlers(to: channel, session: session.value) }
        }
        .bind(to: address)
        .map { channel in
          session.value.port = channel.localAddress?.port ?? 0
          return channel
        }
        .get()
      return NIORedirectListener(channel: channel, session: session, port: channel.localAddress?.port ?? 0)
    } catch let error as IOError {
      let isTaken = error.errnoCode == EADDRINUSE
      let holder = isTaken ? await holder(of: SocketEnd(host: host, port: port)) : nil
      throw RedirectListenerError(
        Self.sentence(error.errnoCode, host: host, port: port, holder: holder), isTaken: isTaken)
    } catch {
      throw RedirectListenerError("cannot listen on \(host) port \(port)")
    }
  }

  /// Sets one connection up.
  static func addHandlers(to channel: any Channel, session: RedirectSession) throws {
    try channel.pipeline.syncOperations.addHandlers(
      RequestSizeLimit(bytes: session.limits.requestBytes),
      HTTPResponseEncoder(),
      ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes)),
      RedirectConnection(session: session))
  }

  /// Who listens there, when it is another user.
  private func holder(of end: SocketEnd?) async -> UInt32? {
    guard let end else { return nil }
    let owners = owners
    let found = await onOwnThread { owners.listener(on: end) } ?? nil
    return found == uid ? nil : found
  }

  private static func sentence(_ code: Int32, host: String, port: Int, holder: UInt32?) -> String {
    switch code {
    case EADDRINUSE:
      if let holder {
        "port \(port) on \(host) is in use by a program of another user (uid \(holder)); choose another port (--port)"
      } else {
        "port \(port) on \(host) is in use by another program; stop it, or choose another port (--port)"
      }
    case EACCES: "port \(port) on \(host) needs more rights; choose one above 1023 (--port)"
    case EADDRNOTAVAIL: "this computer has no address \(host); use 127.0.0.1 in the redirect URI"
    default: "cannot listen on \(host) port \(port): \(String(cString: strerror(code)))"
    }
  }
}

private struct NIORedirectListener: RedirectListening {
  let channel: any Channel
  let session: NIOLoopBound<RedirectSession>
  let port: Int

  func close() async {
    let (eventLoop, session) = (channel.eventLoop, session)
    try? await eventLoop.flatSubmit {
      let session = session.value
      let timer = eventLoop.assumeIsolated().scheduleTask(in: session.limits.closeGrace) { session.settleNow() }
      return session.settle().always { _ in timer.cancel() }
    }.get()
    try? await channel.close().get()
    try? await eventLoop.submit { session.value.dropUnanswered() }.get()
  }
}
