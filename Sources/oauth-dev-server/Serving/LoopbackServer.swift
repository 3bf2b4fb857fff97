import DevAuthorizationServer
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix

/// Puts the engine on 127.0.0.1 with Hummingbird's HTTP/1.1 server. Its router is not used: the engine knows the
/// paths, and a scripted answer may be none at all.
struct LoopbackServer {
  let host: EngineHost
  let port: Int
  let gitRoot: String?

  /// Thrown to close a connection without an answer, or in the middle of one.
  private struct ConnectionDropped: Error {}

  /// Serves until the task is cancelled; `ready` gets the port. Throws when the port cannot be had.
  func run(ready: @escaping @Sendable (Int) async -> Void) async throws {
    var logger = Logger(label: "oauth-dev-server", factory: { StreamLogHandler.standardError(label: $0) })
    logger.logLevel = .warning
    let host = host
    let backend = gitRoot.map(GitBackend.init)
    let channel = HTTP1Channel { request, writer, _ in
      try await LoopbackServer.answer(request, writer, host, backend)
    }
    let server = Server(
      childChannelSetup: channel, configuration: ServerConfiguration(address: .hostname("127.0.0.1", port: port)),
      onServerRunning: { await ready($0.localAddress?.port ?? 0) },
      eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger)
    do {
      try await server.run()
    } catch let error as IOError {
      throw CannotListen(port: port, reason: String(cString: strerror(error.errnoCode)))
    }
  }

  private struct CannotListen: Error, CustomStringConvertible {
    var port: Int
    var reason: String

    var description: String {
      "cannot listen on 127.0.0.1:\(port): \(reason). Choose another --port; 0 takes a free one."
    }
  }

  private static func answer(
    _ request: Request, _ writer: consuming ResponseWriter, _ host: EngineHost, _ backend: GitBackend?
  ) async throws {
    // Every body is read, whatever becomes of it.
    if request.headers[.expect]?.lowercased() == "100-continue" {
      try await writer.writeInformationalHead(HTTPResponse(status: .continue))
    }
    var asked = DevRequest(request.head)
    if let backend, asked.path.hasPrefix("/git/") {
      switch await host.admit(git: asked) {
      case .refused(let response): try await send(response, writer)
      case .admitted(let subject, let delay):
        try await wait(delay)
        guard let git = GitRequest(asked) else { throw ConnectionDropped() }
        try await backend.serve(git, request, subject: subject, writer)
      }
      return
    }
    do {
      let body = try await request.body.collect(upTo: DevAuthorizationServer.bodyLimit)
      asked.body = Array(body.readableBytesView)
    } catch is NIOTooManyBytesError {
      try await send(DevResponse(status: 413), writer)
      throw ConnectionDropped()
    }
    try await send(await host.respond(to: asked), writer)
  }

  private static func send(_ response: DevResponse, _ writer: consuming ResponseWriter) async throws {
    try await wait(response.delayMilliseconds)
    switch response.delivery {
    case .dropped, .refused: throw ConnectionDropped()
    case .whole:
      try await writer.write(
        response: HTTPResponse(response), body: ResponseBody(byteBuffer: ByteBuffer(bytes: response.body)))
    case .cut(let count):
      // The head promises the whole body.
      var body = try await writer.writeHead(HTTPResponse(response))
      try await body.write(ByteBuffer(bytes: response.body.prefix(count)))
      throw ConnectionDropped()
    }
  }

  private static func wait(_ milliseconds: Int) async throws {
    if milliseconds > 0 { try await Task.sleep(for: .milliseconds(milliseconds)) }
  }
}
