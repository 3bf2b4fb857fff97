import Glibc
import Logging
import NIOCore
import NIOPosix

@testable import AgentRuntime

/// A private directory, mode 0700, removed at the end.
final class ScratchFolder: Sendable {
  let path: String

  init() throws {
    var template = Array("/tmp/ocrt-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw UnixSocket.Errno(errno) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { remove(path) }

  private func remove(_ path: String) {
    if let directory = opendir(path) {
      while let entry = readdir(directory) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != ".", name != ".." { remove(path + "/" + name) }
      }
      closedir(directory)
      rmdir(path)
    } else {
      unlink(path)
    }
  }

  func write(_ name: String, _ text: String, mode: mode_t = 0o600) throws {
    let file = open(path + "/" + name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw UnixSocket.Errno(errno) }
    defer { close(file) }
    let bytes = Array(text.utf8)
    guard Glibc.write(file, bytes, bytes.count) == bytes.count, fchmod(file, mode) == 0 else {
      throw UnixSocket.Errno(errno)
    }
  }
}

/// A caller at the other end of a real socket. Collects everything until the connection ends.
struct RawClient: Sendable {
  let channel: any Channel
  private let ended: EventLoopFuture<String>

  private final class Collector: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private var received = ByteBuffer()
    private let ended: EventLoopPromise<String>

    init(_ ended: EventLoopPromise<String>) { self.ended = ended }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      received.writeImmutableBuffer(unwrapInboundIn(data))
    }

    /// A reset ends what can be read as an end does.
    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func handlerRemoved(context: ChannelHandlerContext) { ended.succeed(String(buffer: received)) }
  }

  init(_ address: SocketAddress) async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let promise = loop.makePromise(of: String.self)
    ended = promise.futureResult
    do {
      channel = try await ClientBootstrap(group: loop)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(Collector(promise))
          }
        }
        .connect(to: address).get()
    } catch {
      promise.fail(error)
      throw error
    }
  }

  init(path: String) async throws { try await self.init(SocketAddress(unixDomainSocketPath: path)) }

  init(port: Int) async throws { try await self.init(SocketAddress(ipAddress: "127.0.0.1", port: port)) }

  func send(_ text: String) async throws { try await channel.writeAndFlush(ByteBuffer(string: text)).get() }

  func endOutput() async throws { try await channel.close(mode: .output).get() }

  func close() async { try? await channel.close().get() }

  /// Everything that was received, once the connection ended. One that lasts for five minutes is ended here: a test that waits
  /// in vain fails, and does not hang.
  func received() async throws -> String {
    let patience = channel.eventLoop.scheduleTask(in: .minutes(5)) { [channel] in channel.close(promise: nil) }
    defer { patience.cancel() }
    return try await ended.get()
  }
}

extension Logger {
  static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}
