import Testing

@testable import HelperFormats

@Suite("What git writes")
struct GitInputTests {
  /// An input, and the URL that a token is asked for: nil when nothing is asked for, `refused` when it is not even read.
  struct Case: CustomTestStringConvertible {
    enum Expected: Equatable { case url(String), silence, refused }
    var testDescription: String
    var input: [UInt8]
    var expected: Expected

    init(_ name: String, _ input: String, _ expected: Expected) {
      self.init(name, Array(input.utf8), expected)
    }

    init(_ name: String, _ input: [UInt8], _ expected: Expected) {
      testDescription = name
      self.input = input
      self.expected = expected
    }
  }

  private static func host(_ host: String, _ scheme: String = "https") -> String {
    "protocol=\(scheme)\nhost=\(host)\n\n"
  }
  private static let ok = Case.Expected.url("https://git.example/")

  static let cases: [Case] = [
    Case("a plain request", host("git.example"), ok),
    Case("without the blank line", "protocol=https\nhost=git.example\n", ok),
    Case("without the last line feed", "protocol=https\nhost=git.example", ok),
    Case("the order does not matter", "host=git.example\nprotocol=https\n\n", ok),
    Case("what follows the blank line is not read", host("git.example") + "host=evil.example\n\u{0}", ok),
    Case("unknown keys are passed over", "new=1\nnew[]=2\nprotocol=https\nhost=git.example\n\n", ok),
    Case(
      "a path is told", "protocol=https\nhost=git.example\npath=a/b.git\n\n", .url("https://git.example/a/b.git")),
    Case("a value may hold =", "protocol=https\nhost=git.example\nunknown=a=b\n\n", ok),
    Case("an empty key is an unknown one", "=x\nprotocol=https\nhost=git.example\n\n", ok),
    Case("upper case is the same host", host("Git.EXAMPLE"), ok),
    Case("the default port is no other host", host("git.example:443"), ok),
    Case("another port is another host", host("git.example:8443"), .url("https://git.example:8443/")),
    Case("the greatest port", host("git.example:65535"), .url("https://git.example:65535/")),
    Case("an IPv4 address", host("192.0.2.1:8443"), .url("https://192.0.2.1:8443/")),
    Case("an IPv6 address", host("[2001:DB8::1]"), .url("https://[2001:db8::1]/")),
    Case("an IPv6 address with a port", host("[2001:db8::1]:8443"), .url("https://[2001:db8::1]:8443/")),
    Case("plain http on loopback", host("127.0.0.1:8080", "http"), .url("http://127.0.0.1:8080/")),
    Case("plain http on port 80 of loopback", host("127.0.0.1:80", "http"), .url("http://127.0.0.1/")),
    Case("plain http on localhost", host("localhost", "http"), .url("http://localhost/")),
    Case("plain http on ::1", host("[::1]:1", "http"), .url("http://[::1]:1/")),
    Case("https to localhost", host("localhost:1"), .url("https://localhost:1/")),
    Case("an A-label is a host", host("xn--bcher-kva.example"), .url("https://xn--bcher-kva.example/")),
    Case("an underscore in a name", host("my_git.example"), .url("https://my_git.example/")),
    Case("an empty input", "", .silence),
    Case("a blank line alone", "\n", .silence),
    Case("no protocol", "host=git.example\n\n", .silence),
    Case("no host", "protocol=https\n\n", .silence),
    Case("an empty protocol", host("git.example", ""), .silence),
    Case("an empty host", host(""), .silence),
    Case("a host after the blank line", "protocol=https\n\nhost=git.example\n", .silence),
    Case("plain http", host("git.example", "http"), .silence),
    Case("http to a name that begins like loopback", host("127.0.0.1.evil.example", "http"), .silence),
    Case("http to a name that ends like localhost", host("evil-localhost", "http"), .silence),
    Case("http to 127.1", host("127.1", "http"), .silence),
    Case("http to 127.0.0.01", host("127.0.0.01", "http"), .silence),
    Case("http to 127.0.0.256", host("127.0.0.256", "http"), .silence),
    Case("http to a mapped address", host("[::ffff:127.0.0.1]", "http"), .silence),
    Case("the protocol in upper case", host("git.example", "HTTPS"), .silence),
    Case("ssh", host("git.example", "ssh"), .silence),
    Case("imap", host("git.example:993", "imap"), .silence),
    Case("a dot at the end", host("git.example."), .silence),
    Case("a dot at the front", host(".git.example"), .silence),
    Case("two dots", host("git..example"), .silence),
    Case("a user before the host", host("git.example@evil.example"), .silence),
    Case("a path after the host", host("git.example/evil"), .silence),
    Case("a query after the host", host("git.example?x"), .silence),
    Case("a fragment after the host", host("git.example#x"), .silence),
    Case("a backslash after the host", host("git.example\\evil"), .silence),
    Case("an escape in the host", host("git%2eexample"), .silence),
    Case("a blank in the host", host("git.example evil"), .silence),
    Case("a look-alike letter", host("g\u{456}t.example"), .silence),
    Case("a full-width dot", host("git\u{FF0E}example"), .silence),
    Case("U+2028 in the host", host("git.example\u{2028}"), .silence),
    Case("a soft hyphen in the host", host("git\u{AD}.example"), .silence),
    Case("the Kelvin sign", host("\u{212A}.example"), .silence),
    Case("a hyphen at the front", host("-git.example"), .silence),
    Case("a label of 64", host(String(repeating: "a", count: 64) + ".example"), .silence),
    Case("a port without digits", host("git.example:"), .silence),
    Case("port 0", host("git.example:0"), .silence),
    Case("a port with a zero in front", host("git.example:0443"), .silence),
    Case("port 65536", host("git.example:65536"), .silence),
    Case("a port with a sign", host("git.example:+443"), .silence),
    Case("two ports", host("git.example:443:443"), .silence),
    Case("a port with other digits", host("git.example:\u{664}\u{664}\u{663}"), .silence),
    Case("IPv6 without brackets", host("2001:db8::1"), .silence),
    Case("IPv6 with a zone", host("[fe80::1%25eth0]"), .silence),
    Case("IPv6 without its end", host("[2001:db8::1"), .silence),
    Case("IPv6 with a tail", host("[2001:db8::1]x"), .silence),
    Case("IPv6 and digits without a colon", host("[2001:db8::1]8443"), .silence),
    Case("empty brackets", host("[]"), .silence),
    Case(
      "bytes that are no UTF-8", Array("protocol=https\nhost=git.ex".utf8) + [0xFF] + Array("ample\n\n".utf8), .silence),
    Case("a carriage return in the host", host("git.example\r"), .refused),
    Case("a carriage return in the middle", host("git.example\rhost=evil"), .refused),
    Case("carriage returns at line ends", "protocol=https\r\nhost=git.example\r\n\r\n", .refused),
    Case("a NUL in the host", host("git.example\u{0}.evil"), .refused),
    Case("a NUL in the protocol", host("git.example", "https\u{0}"), .refused),
    Case("a tab in the host", host("git.example\t"), .refused),
    Case("an escape character in the user name", "protocol=https\nhost=git.example\nusername=\u{1B}[2J\n\n", .refused),
    Case("DEL in the path", "protocol=https\nhost=git.example\npath=\u{7F}\n\n", .refused),
    Case("a line without =", "protocol=https\nhost\n\n", .refused),
    Case("a blank in place of a blank line", "protocol=https\nhost=git.example\n \n", .refused),
    Case("the host twice", "protocol=https\nhost=git.example\nhost=evil.example\n\n", .refused),
    Case("the protocol twice", "protocol=https\nprotocol=http\nhost=git.example\n\n", .refused),
    Case("an expiry twice, the first no number", "password_expiry_utc=x\npassword_expiry_utc=1\n", .refused),
    Case("a tab in a state", "state[]=\t\n", .refused),
    Case("the greatest input", "x=" + String(repeating: "a", count: (64 << 10) - 36) + "\n" + host("git.example"), ok),
    Case("a byte more", "x=" + String(repeating: "a", count: (64 << 10) - 35) + "\n" + host("git.example"), .refused),
  ]

  @Test("is asked about, left alone or refused", arguments: cases)
  func judges(_ example: Case) {
    let actual: Case.Expected
    do {
      actual = GitLookup(try GitCredentialRequest(example.input)).map { .url($0.question.url) } ?? .silence
    } catch {
      actual = .refused
      #expect(!error.message.isEmpty)
    }
    #expect(actual == example.expected)
  }

  @Test("lists repeat in order, and an empty value empties them")
  func lists() throws {
    let request = try GitCredentialRequest(
      Array(
        "capability[]=x\ncapability[]=\ncapability[]=authtype\nwwwauth[]=Basic realm=\"a\tb\"\nwwwauth[]=Bearer\nstate[]=a\n"
          .utf8))
    #expect(request.capabilities == ["authtype"])
    #expect(request.challenges == ["Basic realm=\"a\tb\"", "Bearer"])
    #expect(request.states == ["a"])
    #expect(request.knowsAuthtype && !request.knowsState)
  }

  @Test(
    "what a credential has once is refused when it comes twice",
    arguments: ["protocol", "host", "path", "username", "password", "authtype", "credential", "password_expiry_utc"])
  func twice(key: String) {
    #expect(throws: HelperFormatError.repeatedKey(key)) { try GitCredentialRequest(Array("\(key)=1\n\(key)=1\n".utf8)) }
  }

  @Test("an expiry of zero, below, or no number is never", arguments: ["0", "-5", "x", "", "99999999999999999999"])
  func expiry(text: String) throws {
    #expect(try GitCredentialRequest(Array("password_expiry_utc=\(text)\n".utf8)).passwordExpiry == nil)
  }

  @Test(
    "erase names the token that was tried",
    arguments: [
      ("password=t0ken\n", "t0ken"), ("username=u\npassword=t0ken\n", "t0ken"),
      ("authtype=Bearer\ncredential=t0ken\n", "t0ken"), ("", nil), ("username=u\n", nil), ("password=\n", nil),
      ("password=a b\n", nil), ("authtype=Negotiate\ncredential=t0ken\n", nil), ("password=\u{E9}\n", nil),
    ])
  func erase(lines: String, token: String?) throws {
    let request = try GitCredentialRequest(Array("protocol=https\nhost=git.example\n\(lines)\n".utf8))
    let rejected = GitOperation.rejected(request)
    #expect(rejected?.token == token)
    #expect(rejected?.url == (token == nil ? nil : "https://git.example/"))
    let plain = try GitCredentialRequest(Array("protocol=http\nhost=git.example\n\(lines)\n".utf8))
    #expect(GitOperation.rejected(plain) == nil)
  }
}
