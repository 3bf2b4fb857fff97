import FetchWire
import Glibc

/// Which addresses one request may go to, and what the one was that it went to.
///
/// A name says nothing about where it leads: whoever owns it may point it at this machine or into the network around it. So
/// each address is judged when libcurl is about to connect to it, after the name server's last word.
struct NetworkRule {
  let isPublicOnly: Bool
  /// Whether the other end is out there, or not known.
  private(set) var isPublic = true
  private var refused = 0
  private var admitted = 0
  /// Whether this machine has the address itself.
  private let isOwn: (NetworkAddress) -> Bool

  init(isPublicOnly: Bool, isOwn: @escaping (NetworkAddress) -> Bool = Self.isThisMachines) {
    self.isPublicOnly = isPublicOnly
    self.isOwn = isOwn
  }

  /// Whether nothing but private addresses was found.
  var hasRefusedAll: Bool { refused > 0 && admitted == 0 }

  /// Where the host is an address itself, which a proxy would connect to.
  mutating func admits(host: String) -> Bool {
    guard isPublicOnly else { return true }
    return NetworkAddress(host).map { leadsOut($0) } ?? !Target.isLoopback(host)
  }

  /// Nothing that cannot be read is public.
  mutating func admits(_ address: UnsafePointer<sockaddr>) -> Bool {
    guard isPublicOnly else { return true }
    guard let address = NetworkAddress(address), leadsOut(address) else {
      refused += 1
      return false
    }
    admitted += 1
    return true
  }

  mutating func connected(to address: String) { isPublic = NetworkAddress(address).map { leadsOut($0) } ?? true }

  func failure(_ host: String) -> FetchFailure {
    FetchFailure(
      .privateAddress,
      "\(host) is an address of this machine or of a private network, and only a server out there named it"
    )
  }

  private func leadsOut(_ address: NetworkAddress) -> Bool {
    address.isPublic && !isOwn(address) && address.embedded.map(isOwn) != true
  }

  private static func isThisMachines(_ address: NetworkAddress) -> Bool {
    // A sandbox, as that of our own unit, may keep the list from us.
    ownAddresses().map { $0.contains(address) } ?? address.isReachedFromItself
  }

  /// Nil where the kernel does not tell.
  private static func ownAddresses() -> [NetworkAddress]? {
    var first: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&first) == 0 else { return nil }
    defer { freeifaddrs(first) }
    var (found, next) = ([NetworkAddress](), first)
    while let entry = next?.pointee {
      if let address = entry.ifa_addr.flatMap({ NetworkAddress(UnsafePointer($0)) }) { found.append(address) }
      next = entry.ifa_next
    }
    return found
  }
}
