import FetchWire
import Glibc
import Testing

@testable import oauthd_fetch

@Suite("Which addresses are of the public internet")
struct NetworkAddressTests {
  @Test(
    "those at the ends of every private network are private, and their neighbours are public",
    arguments: [
      ("0.0.0.0", "0.255.255.255", "1.0.0.0"), ("10.0.0.0", "10.255.255.255", "11.0.0.0"),
      ("100.64.0.0", "100.127.255.255", "100.128.0.0"), ("100.64.0.1", "100.65.0.0", "100.63.255.255"),
      ("127.0.0.1", "127.255.255.255", "126.255.255.255"), ("169.254.0.0", "169.254.169.254", "169.255.0.0"),
      ("172.16.0.0", "172.31.255.255", "172.32.0.0"), ("172.16.0.1", "172.20.0.1", "172.15.255.255"),
      ("192.0.0.0", "192.0.0.255", "192.0.1.0"), ("192.168.0.0", "192.168.255.255", "192.169.0.0"),
      ("198.18.0.0", "198.19.255.255", "198.20.0.0"), ("224.0.0.0", "255.255.255.255", "223.255.255.255"),
      ("::", "::1", "2000::"), ("fe80::1", "febf::1", "2600::1"), ("fc00::1", "fdff::1", "3ffe::1"),
      ("ff02::1", "fec0::1", "2a00::1"), ("2001::1", "2001:1ff:ffff::1", "2001:200::1"),
      ("192.0.2.0", "192.0.2.255", "192.0.3.0"), ("198.51.100.0", "198.51.100.255", "198.51.101.0"),
      ("203.0.113.0", "203.0.113.255", "203.0.114.0"), ("2001:db8::", "2001:db8:ffff::1", "2001:db9::1"),
      ("3fff::1", "3fff:fff::1", "3fff:1000::1"),
    ])
  func ends(first: String, last: String, neighbour: String) throws {
    #expect(NetworkAddress(first)?.isPublic == false && NetworkAddress(last)?.isPublic == false)
    #expect(NetworkAddress(neighbour)?.isPublic == true)
  }

  @Test(
    "one of IPv4 stays what it is in each of its forms within IPv6",
    arguments: [
      ("::ffff:10.0.0.1", false), ("::ffff:127.0.0.1", false), ("::ffff:8.8.8.8", true), ("::127.0.0.1", false),
      ("::8.8.8.8", false), ("64:ff9b::10.0.0.1", false), ("64:ff9b::169.254.169.254", false),
      ("64:ff9b::8.8.8.8", true),
      ("64:ff9b:1::8.8.8.8", false), ("2002:0a00:0001::1", false), ("2002:7f00:0001::1", false),
      ("2002:0808:0808::1", true),
    ])
  func embedded(text: String, isPublic: Bool) throws {
    #expect(NetworkAddress(text)?.isPublic == isPublic)
    #expect(NetworkAddress("[\(text)]")?.isPublic == isPublic)
  }

  @Test("a name is none", arguments: ["", "localhost", "10.0.0.1.example.org", "10.1", "[10.0.0.1", "[]", "::1%lo"])
  func name(text: String) { #expect(NetworkAddress(text) == nil) }

  @Test("what libcurl is about to connect to is read as it is written")
  func socketAddress() throws {
    var four = sockaddr_in()
    four.sin_family = sa_family_t(AF_INET)
    inet_pton(AF_INET, "192.168.3.4", &four.sin_addr)
    var six = sockaddr_in6()
    six.sin6_family = sa_family_t(AF_INET6)
    inet_pton(AF_INET6, "2a00::7", &six.sin6_addr)
    var local = sockaddr()
    local.sa_family = sa_family_t(AF_UNIX)
    func read<Value>(_ value: inout Value) -> NetworkAddress? {
      withUnsafeBytes(of: &value) { bytes in
        bytes.baseAddress.flatMap { NetworkAddress($0.assumingMemoryBound(to: sockaddr.self)) }
      }
    }
    #expect(read(&four) == NetworkAddress("192.168.3.4") && read(&six) == NetworkAddress("2a00::7"))
    #expect(read(&local) == nil)
  }
}

@Suite("A request that is for public addresses alone")
struct NetworkRuleTests {
  private static func admits(_ rule: inout NetworkRule, _ text: String) -> Bool {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    inet_pton(AF_INET, text, &address.sin_addr)
    return withUnsafeBytes(of: &address) { bytes in
      bytes.baseAddress.map { rule.admits($0.assumingMemoryBound(to: sockaddr.self)) } ?? true
    }
  }

  @Test("goes to none of a private network or of this machine, and any other request to all")
  func admitted() {
    var rule = NetworkRule(isPublicOnly: true, isOwn: { $0 == NetworkAddress("192.175.48.7") })
    #expect(!Self.admits(&rule, "192.175.48.7") && !Self.admits(&rule, "10.0.0.1") && rule.hasRefusedAll)
    #expect(Self.admits(&rule, "192.175.48.8") && !rule.hasRefusedAll, "what fails now is another thing")
    var any = NetworkRule(isPublicOnly: false, isOwn: { _ in false })
    #expect(Self.admits(&any, "10.0.0.1") && !any.hasRefusedAll && any.admits(host: "10.0.0.1"))
  }

  @Test("this machine's own address is its own within an IPv6 address, too")
  func own() {
    var rule = NetworkRule(isPublicOnly: true, isOwn: { $0 == NetworkAddress("203.0.114.7") })
    for host in ["203.0.114.7", "[::ffff:203.0.114.7]", "[64:ff9b::203.0.114.7]", "[2002:cb00:7207::1]"] {
      let isAdmitted = rule.admits(host: host)
      #expect(!isAdmitted, "\(host)")
    }
    let isOtherAdmitted = rule.admits(host: "[::ffff:203.0.114.8]")
    #expect(isOtherAdmitted)
  }

  @Test("an address is this machine's where what goes there comes from it")
  func thisMachines() throws {
    #expect(try #require(NetworkAddress("127.0.0.1")).isReachedFromItself)
    #expect(try !#require(NetworkAddress("192.0.2.1")).isReachedFromItself)
    #expect(try !#require(NetworkAddress("2001:db8::1")).isReachedFromItself)
  }

  @Test("its host may be an address, which a proxy would connect to")
  func host() {
    var rule = NetworkRule(isPublicOnly: true, isOwn: { _ in false })
    let hosts = ["10.0.0.1", "[fd00::1]", "127.0.0.1", "localhost", "8.8.8.8", "[2a00::1]", "a.example"]
    let admitted = hosts.filter { rule.admits(host: $0) }
    #expect(admitted == ["8.8.8.8", "[2a00::1]", "a.example"])
  }

  @Test("where an answer came from is told, and what is not known counts as out there")
  func origin() {
    var rule = NetworkRule(isPublicOnly: false, isOwn: { $0 == NetworkAddress("192.175.48.7") })
    #expect(rule.isPublic)
    for (address, isPublic) in [("10.0.0.1", false), ("8.8.8.8", true), ("192.175.48.7", false), ("?", true)] {
      rule.connected(to: address)
      #expect(rule.isPublic == isPublic, "\(address)")
    }
  }
}
