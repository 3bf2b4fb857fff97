import Glibc

/// One end of a TCP connection, an address and a port.
struct SocketEnd: Sendable, Equatable {
  /// 4 or 16 bytes in network order.
  let address: [UInt8]
  let port: UInt16

  init(address: [UInt8], port: UInt16) {
    self.address = address
    self.port = port
  }

  /// Of a numeric address, as `127.0.0.1` or `::1`.
  init?(host: String, port: Int) {
    guard let port = UInt16(exactly: port) else { return nil }
    var bytes = [UInt8](repeating: 0, count: 16)
    if inet_pton(AF_INET6, host, &bytes) == 1 {
      self.init(address: bytes, port: port)
    } else if inet_pton(AF_INET, host, &bytes) == 1 {
      self.init(address: Array(bytes[..<4]), port: port)
    } else {
      return nil
    }
  }

  /// What a socket is bound to.
  init?(bound descriptor: Int32) {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
    }
    guard result == 0 else { return nil }
    // The port stands at the same place in both.
    let bytes = withUnsafeBytes(of: &storage) { Array($0.prefix(24)) }
    let port = UInt16(bytes[2]) << 8 | UInt16(bytes[3])
    switch Int32(storage.ss_family) {
    case AF_INET: self.init(address: Array(bytes[4..<8]), port: port)
    case AF_INET6: self.init(address: Array(bytes[8..<24]), port: port)
    default: return nil
    }
  }

  /// Calls `body` with the end as the kernel wants it.
  func withAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var storage = sockaddr_storage()
    storage.ss_family = sa_family_t(isIPv4 ? AF_INET : AF_INET6)
    withUnsafeMutableBytes(of: &storage) { bytes in
      (bytes[2], bytes[3]) = (UInt8(port >> 8), UInt8(port & 0xFF))
      for (place, byte) in address.enumerated() { bytes[(isIPv4 ? 4 : 8) + place] = byte }
    }
    let length = isIPv4 ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
    return withUnsafePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(length)) }
    }
  }

  var isIPv4: Bool { address.count == 4 }

  /// How an IPv6 socket sees an IPv4 address: `::ffff:127.0.0.1`.
  var mapped: SocketEnd {
    isIPv4 ? SocketEnd(address: [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + address, port: port) : self
  }

  /// The address that stands for all of its family, with the same port.
  var wildcard: SocketEnd { SocketEnd(address: [UInt8](repeating: 0, count: address.count), port: port) }

  /// As the kernel's tables write it: each word of the address in the order of this machine, then the port.
  var tableText: [UInt8] {
    var text: [UInt8] = []
    for start in stride(from: 0, to: address.count - 3, by: 4) {
      let word = address[start..<start + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      text += Self.hexadecimal(word.bigEndian, digits: 8)
    }
    return text + [UInt8(ascii: ":")] + Self.hexadecimal(UInt32(port), digits: 4)
  }

  private static func hexadecimal(_ value: UInt32, digits: Int) -> [UInt8] {
    let alphabet = Array("0123456789ABCDEF".utf8)
    return (0..<digits).reversed().map { alphabet[Int(value >> (4 * UInt32($0)) & 0xF)] }
  }
}

/// Both ends of a connection that we accepted.
struct ConnectionEnds: Sendable, Equatable {
  let client: SocketEnd
  let server: SocketEnd

  init(client: SocketEnd, server: SocketEnd) {
    self.client = client
    self.server = server
  }

  /// As an IPv6 socket sees them.
  var mapped: ConnectionEnds { ConnectionEnds(client: client.mapped, server: server.mapped) }

  /// How a row of the client's end begins, behind its number.
  var key: ArraySlice<UInt8> {
    let space = UInt8(ascii: " ")
    return (client.tableText + [space] + server.tableText + [space])[...]
  }
}
