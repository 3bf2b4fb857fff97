import AgentWire
package import AgentCore
package import FetchWire
import Glibc
package import Logging

/// Loopback redirect listeners (RFC 8252 §7.3), each served by an `oauthd-redirect` of its own: the browser's HTTP is
/// parsed where no key lives, and judged here.
///
/// Only connections of our own user are served: another user who answered the redirect first would log us in as himself.
/// Only GET requests whose Host is this computer's loopback address and the bound port reach `onHit`; all others are
/// answered without it and end no login. After `loggedIn` or `refused` the browser is sent to a clean address, whose page
/// tells how it went. Answers must be returned before ``RedirectListening/close()`` is awaited: it waits for them.
package struct HelperRedirectReceiver: RedirectReceiver {
  private let helper: String
  private let limits: RedirectLimits
  private let closeGrace: LoopSpan
  private let uid: UInt32
  /// The files of these logins alone: one that hangs keeps no account from being read.
  private let reader: PatientReader
  private let loop: ServingLoop
  private let logger: Logger
  private let owners = SocketOwners()

  /// `helper` is the absolute path of `oauthd-redirect`. Closing waits for `closeGrace` that the browser fetches the
  /// landing page.
  package init(
    helper: String, limits: RedirectLimits = RedirectLimits(), closeGrace: LoopSpan = .seconds(2), uid: UInt32,
    loop: ServingLoop, logger: Logger
  ) {
    self.helper = helper
    self.limits = limits
    self.closeGrace = closeGrace
    self.uid = uid
    reader = PatientReader(uid: uid)
    self.loop = loop
    self.logger = logger
  }

  package func identity(_ files: RedirectIdentityFiles, host: String) async throws -> RedirectIdentity {
    let read = await reader.read { attempt in
      Result { () throws(RedirectListenerError) in try RedirectIdentity(reading: files, host: host, by: attempt) }
    }
    return try read.mapError {
      RedirectListenerError(
        "its redirect_cert_file \(plainText(files.certificate)) \($0.sentence)", isOfFile: true,
        hint: $0.remedy ?? "try again")
    }.flatMap { $0 }.get()
  }

  package func listen(
    host: String, port: Int, identity: RedirectIdentity?,
    onHit: @escaping @Sendable (RedirectHit) async -> RedirectPage
  ) async throws -> any RedirectListening {
    guard let end = LoopbackSocket.end(host: host, port: port) else {
      throw RedirectListenerError("\(host) port \(port) is no loopback address to listen on")
    }
    let socket: LoopbackSocket
    do throws(LoopbackSocket.Failure) {
      socket = try LoopbackSocket.open(end, backlog: Int32(limits.lookups))
    } catch {
      let holder = error.code == EADDRINUSE ? await holder(of: end) : nil
      throw LoopbackSocket.refusal(error.code, host: host, port: port, holder: holder)
    }
    let tools = RedirectSession.Tools(
      helper: helper, limits: limits, socket: socket, identity: identity, closeGrace: closeGrace,
      acceptor: RedirectAcceptor.Place(
        server: socket.end, uid: uid, owners: owners, limit: limits.lookups, loop: loop, logger: logger),
      onHit: onHit)
    let session = await loop.run { LoopBound(RedirectSession(tools, queue: $0), $0) }
    let certificateEnd: Int? = try await withCheckedThrowingContinuation { continuation in
      loop.execute { session.value(on: $0).start { continuation.resume(with: $0) } }
    }
    return HelperRedirectListener(
      loop: loop, session: session, port: Int(socket.end.port), certificateEnd: certificateEnd)
  }

  /// Who listens there, when it is another user.
  private func holder(of end: SocketEnd) async -> UInt32? {
    let owners = owners
    let found = await onOwnThread { owners.listener(on: end) } ?? nil
    return found == uid ? nil : found
  }
}

private struct HelperRedirectListener: RedirectListening {
  let loop: ServingLoop
  let session: LoopBound<RedirectSession>
  let port: Int
  let certificateEnd: Int?

  func close() async {
    await withCheckedContinuation { continuation in
      loop.execute { session.value(on: $0).close { continuation.resume() } }
    }
  }
}
