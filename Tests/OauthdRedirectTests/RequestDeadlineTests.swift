import FetchWire
import NIOCore
import NIOEmbedded
import Testing

@testable import oauthd_redirect

@Suite("A browser's connection")
struct RequestDeadlineTests {
  /// What the agent was told. Used on the channel's loop only.
  private final class Told { var reports: [RedirectReport] = [] }

  private let loop = NIOAsyncTestingEventLoop()
  private let channel: NIOAsyncTestingChannel
  private let told: NIOLoopBound<Told>
  private let table: NIOLoopBound<ConnectionTable>

  init() async throws {
    let (loop, channel) = (loop, NIOAsyncTestingChannel(loop: loop))
    self.channel = channel
    (told, table) = try await loop.executeInContext {
      let told = Told()
      let table = ConnectionTable(limits: RedirectLimits()) { told.reports.append($0) }
      try BrowserListener.addHandlers(to: channel, BrowserConnection(number: 7, table: table))
      return (NIOLoopBound(told, eventLoop: loop), NIOLoopBound(table, eventLoop: loop))
    }
    try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
  }

  private func reports() async throws -> [RedirectReport] {
    let told = told
    // The end of a connection is told in the loop's next turn.
    await loop.run()
    return try await loop.executeInContext { told.value.reports }
  }

  @Test("A request must be whole within 10 s, however slowly it drips")
  func requestDeadline() async throws {
    try await channel.writeInbound(ByteBuffer(string: "GET /callback?code="))
    for _ in 0..<9 {
      try await channel.writeInbound(ByteBuffer(string: "S"))
      await loop.advanceTime(by: .seconds(1))
    }
    await loop.advanceTime(by: .milliseconds(999))
    #expect(channel.isActive)
    #expect(try await reports().isEmpty)
    await loop.advanceTime(by: .milliseconds(1))
    #expect(!channel.isActive)
    #expect(try await reports() == [.gone(7)])
  }

  @Test("A handshake has no time of its own: half of one ends with the time of the request")
  func handshakeDeadline() async throws {
    let channel = NIOAsyncTestingChannel(loop: loop)
    let (told, table) = (told, table)
    try await loop.executeInContext {
      let tls = try BrowserTLS(BrowserTLSTests.good, now: BrowserTLSTests.begin)
      try BrowserListener.addHandlers(to: channel, BrowserConnection(number: 8, table: table.value), tls)
      #expect(told.value.reports.isEmpty)
    }
    try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
    // A ClientHello of 512 bytes begins (RFC 8446 §4, §5.1).
    try await channel.writeInbound(ByteBuffer(bytes: [22, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3]))
    await loop.advanceTime(by: .milliseconds(9_999))
    #expect(channel.isActive)
    await loop.advanceTime(by: .milliseconds(1))
    #expect(!channel.isActive)
    #expect(try await reports().contains(.gone(8)))
  }

  @Test("The login may judge for longer than a request may take, and the connection ends with the answer")
  func judgedLong() async throws {
    try await channel.writeInbound(ByteBuffer(string: "GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
    #expect(
      try await reports() == [
        .request(7, RedirectRequest(method: "GET", target: "/", hosts: ["a"], hasBody: false))
      ])
    // The login may judge for longer than a request may take.
    await loop.advanceTime(by: .seconds(60))
    #expect(channel.isActive)
    let table = table
    try await loop.executeInContext { table.value.answer(7, RedirectReply(status: 200, location: nil, page: "p")) }
    let head = try await channel.waitForOutboundWrite(as: ByteBuffer.self)
    #expect(String(buffer: head).hasPrefix("HTTP/1.1 200 OK\r\n"))
    await loop.advanceTime(by: .seconds(1))
    #expect(try await reports().dropFirst() == [.gone(7)])
  }

  @Test(
    "What is no request is told as that, once, and stored by nobody",
    arguments: [
      ("nonsense\r\n\r\n", RedirectReport.Problem.malformed),
      ("GET / HTTP/1.1\r\nA: " + String(repeating: "a", count: 16 << 10), .tooLarge),
    ])
  func unreadable(_ text: String, _ problem: RedirectReport.Problem) async throws {
    try await channel.writeInbound(ByteBuffer(string: text))
    try await channel.writeInbound(ByteBuffer(string: "GET /callback HTTP/1.1\r\nHost: a\r\n\r\n"))
    #expect(try await reports() == [.unreadable(7, problem)])
  }
}
