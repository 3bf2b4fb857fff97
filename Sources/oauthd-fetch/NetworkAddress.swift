import Glibc

/// An address of the internet protocol, and whether it leads out into the public internet.
struct NetworkAddress: Equatable {
  /// 4 or 16 bytes, as they travel.
  let bytes: [UInt8]

  /// IPv4, or IPv6 with brackets or without; nil for a name.
  init?(_ text: String) {
    var four = in_addr()
    if inet_pton(AF_INET, text, &four) == 1 {
      bytes = withUnsafeBytes(of: &four, Array.init)
      return
    }
    let isBracketed = text.hasPrefix("[") && text.hasSuffix("]")
    var six = in6_addr()
    guard inet_pton(AF_INET6, isBracketed ? String(text.dropFirst().dropLast()) : text, &six) == 1 else { return nil }
    bytes = withUnsafeBytes(of: &six, Array.init)
  }

  /// Nil for what is neither IPv4 nor IPv6.
  init?(_ address: UnsafePointer<sockaddr>) {
    let raw = UnsafeRawPointer(address)
    switch Int32(address.pointee.sa_family) {
    case AF_INET: bytes = withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in.self).sin_addr, Array.init)
    case AF_INET6: bytes = withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr, Array.init)
    default: return nil
    }
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  /// Whether what goes to it comes from it, too: then this machine has it, or takes what is for it. Nothing is sent.
  var isReachedFromItself: Bool {
    var place = sockaddr_storage()
    var length = withUnsafeMutableBytes(of: &place) { write(into: $0) }
    let socket = socket(Int32(place.ss_family), Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { return false }
    defer { close(socket) }
    return withUnsafeMutablePointer(to: &place) { storage in
      storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        guard connect(socket, address, length) == 0 else { return false }
        length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return getsockname(socket, address, &length) == 0 && NetworkAddress(address) == self
      }
    }
  }

  /// As an address of a socket, of the port for discarded datagrams. Its size.
  private func write(into place: UnsafeMutableRawBufferPointer) -> socklen_t {
    let discard = in_port_t(9).bigEndian
    if bytes.count == 4 {
      var address = sockaddr_in()
      (address.sin_family, address.sin_port) = (sa_family_t(AF_INET), discard)
      withUnsafeMutableBytes(of: &address.sin_addr) { $0.copyBytes(from: bytes) }
      place.storeBytes(of: address, as: sockaddr_in.self)
      return socklen_t(MemoryLayout<sockaddr_in>.size)
    }
    var address = sockaddr_in6()
    (address.sin6_family, address.sin6_port) = (sa_family_t(AF_INET6), discard)
    withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: bytes) }
    place.storeBytes(of: address, as: sockaddr_in6.self)
    return socklen_t(MemoryLayout<sockaddr_in6>.size)
  }

  /// Whether IANA's registries of special-purpose addresses (RFC 6890) call it one that can be reached from anywhere. Of IPv6
  /// only what is given out (2000::/3) counts, so what is registered later is private here until somebody looks at it. An
  /// IPv6 address that stands for one of IPv4 is what that one is.
  var isPublic: Bool {
    if bytes.count == 4 { return !Self.privateNetworks.contains { $0.contains(bytes) } }
    if let four = embedded { return four.isPublic }
    return Self.globalUnicast.contains(bytes) && !Self.privateNetworksOfIPv6.contains { $0.contains(bytes) }
  }

  /// The IPv4 address that a connection to this one ends at; nil: none.
  var embedded: NetworkAddress? {
    if Self.mapped.contains(bytes) || Self.translated.contains(bytes) {
      return NetworkAddress(bytes: Array(bytes[12...]))
    }
    return Self.sixToFour.contains(bytes) ? NetworkAddress(bytes: Array(bytes[2..<6])) : nil
  }

  private struct Network {
    let prefix: [UInt8]
    let bits: Int

    init(_ prefix: [UInt8], _ bits: Int) {
      self.prefix = prefix
      self.bits = bits
    }

    /// `bytes` has as many bytes as the prefix, or more.
    func contains(_ bytes: [UInt8]) -> Bool {
      let whole = bits / 8
      guard bytes.starts(with: prefix.prefix(whole)) else { return false }
      return bits % 8 == 0 || (bytes[whole] ^ prefix[whole]) >> (8 - bits % 8) == 0
    }
  }

  private static let privateNetworks = [
    Network([0], 8),  // this network; Linux connects 0.0.0.0 to this machine
    Network([10], 8), Network([172, 16], 12), Network([192, 168], 16),  // RFC 1918
    Network([100, 64], 10),  // behind a provider's translator (RFC 6598), and in overlay networks
    Network([127], 8),  // loopback
    Network([169, 254], 16),  // link-local: where clouds keep the metadata of a machine
    Network([192, 0, 0], 24),  // RFC 6890
    Network([192, 0, 2], 24), Network([198, 51, 100], 24), Network([203, 0, 113], 24),  // for examples (RFC 5737)
    Network([198, 18], 15),  // tests of networks (RFC 2544), and proxies that answer for every name
    Network([224], 4), Network([240], 4),  // multicast; reserved, and broadcast
  ]
  private static let globalUnicast = Network([0x20], 3)
  private static let privateNetworksOfIPv6 = [
    Network([0x20, 0x01, 0], 23),  // for protocols, Teredo among them (RFC 2928); what of it is global serves no HTTP
    Network([0x20, 0x01, 0x0D, 0xB8], 32), Network([0x3F, 0xFF, 0], 20),  // examples in documents (RFC 3849, RFC 9637)
  ]
  private static let sixToFour = Network([0x20, 0x02], 16)
  private static let mapped = Network([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], 96)
  /// RFC 6052. Its neighbour for local use (RFC 8215) hides the address in places that nobody here knows: it is private.
  private static let translated = Network([0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0], 96)
}
