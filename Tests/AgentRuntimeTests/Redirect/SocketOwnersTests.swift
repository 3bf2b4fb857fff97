import Glibc
import Testing

@testable import AgentRuntime

@Suite("Whose a TCP socket is")
struct SocketOwnersTests {
  private let folder: ScratchFolder
  private var owners: SocketOwners { SocketOwners(folder: folder.path) }

  private func owner(_ ends: ConnectionEnds) -> SocketOwners.Owner { owners.clients(of: [ends])[0] }

  init() throws { folder = try ScratchFolder() }

  private static let header =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"
  private static let ends = ConnectionEnds(
    client: SocketEnd(address: [127, 0, 0, 1], port: 50_000), server: SocketEnd(address: [127, 0, 0, 1], port: 8_914))
  private static let six = ConnectionEnds(
    client: SocketEnd(address: [UInt8](repeating: 0, count: 15) + [1], port: 50_000),
    server: SocketEnd(address: [UInt8](repeating: 0, count: 15) + [1], port: 8_914))

  /// A row as the kernel writes it.
  private static func row(
    _ local: SocketEnd, _ remote: SocketEnd, state: String = "01", uid: String = "1001", inode: String = "4711"
  ) -> String {
    let ends = [local, remote].map { String(decoding: $0.tableText, as: UTF8.self) }.joined(separator: " ")
    return "   7: \(ends) \(state) 00000000:00000000 00:00000000 00000000  \(uid)        0 \(inode) 1 0000000000000 20"
  }

  private func write(_ table: String, _ lines: [String]) throws {
    let descriptor = open("\(folder.path)/\(table)", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    var bytes = Array((lines.joined(separator: "\n") + "\n").utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      try #require(count > 0)
      bytes = bytes.dropFirst(count)
    }
  }

  @Test("An end is written as the kernel does: words in this machine's order, the port in hexadecimal")
  func text() throws {
    let four = try #require(SocketEnd(host: "127.0.0.1", port: 8_914))
    #expect(four.address == [127, 0, 0, 1])
    let six = try #require(SocketEnd(host: "::1", port: 80))
    #expect(six.address == [UInt8](repeating: 0, count: 15) + [1])
    #if _endian(little)
      #expect(String(decoding: four.tableText, as: UTF8.self) == "0100007F:22D2")
      #expect(String(decoding: six.tableText, as: UTF8.self) == "00000000000000000000000001000000:0050")
      #expect(String(decoding: four.mapped.tableText, as: UTF8.self) == "0000000000000000FFFF00000100007F:22D2")
    #endif
    #expect(SocketEnd(host: "localhost", port: 80) == nil)
    #expect(SocketEnd(host: "127.0.0.1", port: 65_536) == nil)
  }

  @Test("The row of the client's end names its user; the row of our own end does not count")
  func found() throws {
    let ends = Self.ends
    try write("tcp", [Self.header, Self.row(ends.server, ends.client, uid: "0"), Self.row(ends.client, ends.server)])
    #expect(owner(ends) == .user(1_001))
  }

  @Test("A client that reached 127.0.0.1 with a socket of IPv6 is found in the other table")
  func mapped() throws {
    let ends = Self.ends
    try write("tcp", [Self.header])
    try write("tcp6", [Self.header, Self.row(ends.client.mapped, ends.server.mapped, uid: "65534")])
    #expect(owner(ends) == .user(65_534))
  }

  @Test("A connection over ::1 is looked up in the table of IPv6 alone")
  func six() throws {
    try write("tcp", [Self.header])
    try write("tcp6", [Self.header, Self.row(Self.six.client, Self.six.server)])
    #expect(owner(Self.six) == .user(1_001))
  }

  @Test("A socket that its program has closed is nobody's, though its row says user 0")
  func orphan() throws {
    try write("tcp", [Self.header, Self.row(Self.ends.client, Self.ends.server, state: "04", uid: "0", inode: "0")])
    #expect(owner(Self.ends) == .unknown("its program has closed it"))
  }

  @Test(
    "A socket that only begins to connect from there, or that has ended, is not the client",
    arguments: ["02", "06", "08"])
  func notStanding(state: String) throws {
    try write("tcp", [Self.header, Self.row(Self.ends.client, Self.ends.server, state: state)])
    #expect(owner(Self.ends) == .unknown("it does not stand"))
  }

  @Test("Who is in no table is unknown: other ends, no table, a table that cannot be read")
  func unknown() throws {
    #expect(owner(Self.ends) == .unknown("\(folder.path)/tcp: No such file or directory"))
    let other = SocketEnd(address: [127, 0, 0, 1], port: 50_001)
    try write("tcp", [Self.header, Self.row(other, Self.ends.server), Self.row(Self.ends.client, other)])
    #expect(owner(Self.ends) == .unknown("no table has its socket"))
  }

  @Test(
    "A line that is no row of the kernel's is passed over",
    arguments: [
      "", ":", "   7:", "   7: ENDS", "   7: ENDS 01", "   7: ENDS 01 0:0 0:0 0 1001 0",
      "   7: ENDS 01 0:0 0:0 0 -1 0 4711", "   7: ENDS 01 0:0 0:0 0 +1001 0 4711", "   7: ENDS 01 0:0 0:0 0 1x 0 4711",
      "   7: ENDS 01 0:0 0:0 0 4294967296 0 4711", "   7: ENDS 01 0:0 0:0 0 1001 0 99999999999999999999",
      "   7: ENDS 001 0:0 0:0 0 1001 0 4711", "   7 ENDS 01 0:0 0:0 0 1001 0 4711",
      "   7: ENDS 01 0:0 0:0 0 1001 0 4711 " + String(repeating: "0", count: 512), "\u{0}\u{ff}é: ENDS",
    ])
  func hostile(_ line: String) throws {
    let ends = [Self.ends.client, Self.ends.server].map { String(decoding: $0.tableText, as: UTF8.self) }
    let pieces = line.split(separator: "ENDS", omittingEmptySubsequences: false)
    let hostile = pieces.joined(separator: ends.joined(separator: " "))
    try write("tcp", [Self.header, hostile])
    #expect(owner(Self.ends) == .unknown("no table has its socket"))
    try write("tcp", [hostile, Self.row(Self.ends.client, Self.ends.server)])
    #expect(owner(Self.ends) == .user(1_001))
  }

  @Test("Rows are found where one read ends and the next begins, and a line without an end takes no memory")
  func pieces() throws {
    // Rows of about 140 bytes stand across every 64 KiB of this.
    let other = SocketEnd(address: [127, 0, 0, 1], port: 1)
    let rows = (0..<3_000).map { Self.row(SocketEnd(address: [127, 0, 0, 2], port: UInt16($0)), other, uid: "\($0)") }
    try write("tcp", [String(repeating: "a", count: 1 << 20)] + rows)
    let ends = (0..<3_000).map {
      ConnectionEnds(client: SocketEnd(address: [127, 0, 0, 2], port: UInt16($0)), server: other)
    }
    #expect(owners.clients(of: ends) == (0..<3_000).map { .user($0) })
    for port in [0, 470, 1_500, 2_999] { #expect(owner(ends[port]) == .user(UInt32(port))) }
  }

  @Test("Those who ask together are told apart, in their order, over both tables")
  func together() throws {
    let (four, six) = (Self.ends, Self.six)
    let through = ConnectionEnds(client: SocketEnd(address: [127, 0, 0, 1], port: 50_002), server: four.server)
    let gone = ConnectionEnds(client: SocketEnd(address: [127, 0, 0, 1], port: 50_003), server: four.server)
    let absent = ConnectionEnds(client: SocketEnd(address: [127, 0, 0, 1], port: 50_004), server: four.server)
    try write("tcp", [Self.row(gone.client, gone.server, uid: "0", inode: "0"), Self.row(four.client, four.server)])
    try write(
      "tcp6",
      [Self.row(six.client, six.server, uid: "6"), Self.row(through.mapped.client, through.mapped.server, uid: "7")])
    #expect(
      owners.clients(of: [absent, six, through, four, gone]) == [
        .unknown("no table has its socket"), .user(6), .user(7), .user(1_001), .unknown("its program has closed it"),
      ])
    #expect(owners.clients(of: []).isEmpty)
  }

  @Test("No more is read of a table than its bound")
  func bound() throws {
    let filler = String(repeating: "a", count: 4_000)
    try write("tcp", [filler, Self.row(Self.ends.client, Self.ends.server)])
    #expect(SocketOwners(folder: folder.path, limitBytes: 8_000).clients(of: [Self.ends]) == [.user(1_001)])
    #expect(
      SocketOwners(folder: folder.path, limitBytes: 4_000).clients(of: [Self.ends])
        == [.unknown("\(folder.path)/tcp is too long")])
  }

  @Test("Who listens is told for an address, for all of them, and by IPv6 for IPv4")
  func listener() throws {
    let end = Self.ends.server
    let nobody = SocketEnd(address: [0, 0, 0, 0], port: 0)
    #expect(owners.listener(on: end) == nil)
    try write("tcp", [Self.row(end, nobody, state: "01"), Self.row(end, nobody, state: "0A")])
    #expect(owners.listener(on: end) == 1_001)
    try write("tcp", [Self.row(end.wildcard, nobody, state: "0A", uid: "7")])
    #expect(owners.listener(on: end) == 7)
    try write("tcp", [])
    let nobodySix = SocketEnd(address: [UInt8](repeating: 0, count: 16), port: 0)
    try write("tcp6", [Self.row(Self.six.server.wildcard, nobodySix, state: "0A", uid: "8")])
    #expect(owners.listener(on: end) == 8)
    #expect(owners.listener(on: Self.six.server) == 8)
    #expect(owners.listener(on: SocketEnd(address: end.address, port: 1)) == nil)
  }
}
