import HTTPTerms
import Testing

@testable import HelperFormats

@Suite("curl's arguments")
struct CurlTests {
  private static func token(_ text: String) -> HelperToken {
    HelperToken(accessToken: text, tokenType: "Bearer", expiresAt: nil, fingerprint: "", username: nil, account: "work")
  }

  @Test(
    "URLs are found among options and their values",
    arguments: [
      (["https://a/"], ["https://a/"]), (["-sS", "https://a/"], ["https://a/"]),
      (["-XPOST", "-d", "https://no/", "https://a/"], ["https://a/"]),
      (["-dhttps://no/", "https://a/"], ["https://a/"]),
      (["-sSLo", "https://no/", "https://a/"], ["https://a/"]), (["-sSLofile", "https://a/"], ["https://a/"]),
      (["--url", "https://a/", "https://b/"], ["https://a/", "https://b/"]),
      (["--data-urlencode", "x=y", "--", "-odd"], ["-odd"]), (["-o-", "https://a/"], ["https://a/"]),
      (["--no-buffer", "--no-keepalive", "https://a/"], ["https://a/"]), (["-H", "-x", "a.example"], ["a.example"]),
      (["--json", "{}", "-w", "%{http_code}", "https://a/"], ["https://a/"]),
      (["-x", "http://proxy", "--preproxy", "socks5://p", "https://a/"], ["https://a/"]), (["-s"], []),
    ])
  func urls(words: [String], urls: [String]) throws { #expect(try CurlArguments(words).urls == urls) }

  @Test(
    "What is not known is refused, abbreviations too: its next word could be anything",
    arguments: [["--bogus", "x"], ["--oauth2-b", "x"], ["--loc"], ["-"], ["-$"], ["--data=x"], ["--help"], ["-sV"]])
  func unknown(words: [String]) {
    #expect(throws: CurlArguments.Refusal.self) { try CurlArguments(words + ["https://a/"]) }
  }

  @Test("An option without its value is refused", arguments: [["-d"], ["https://a/", "--output"], ["-sSo"]])
  func missingValue(words: [String]) { #expect(throws: CurlArguments.Refusal.self) { try CurlArguments(words) } }

  @Test("The user's own -D is taken out, to be written from what is kept")
  func dumpHeader() throws {
    let arguments = try CurlArguments(["-sD", "heads", "https://a/", "--dump-header", "-"])
    #expect(arguments.dumpHeader == "-")
    #expect(arguments.words == ["-s", "https://a/"])
  }

  @Test(
    "What would carry or leak credentials is refused",
    arguments: [
      ["-u", "a:b"], ["-ua:b"], ["--user", "a"], ["--oauth2-bearer", "t"], ["--aws-sigv4", "x"], ["--digest"],
      ["--ntlm", "--netrc"], ["--anyauth"], ["--negotiate"],
      ["-H", "Authorization: x"],
      ["-H", "authorization:"], ["-HAUTHORIZATION;"], ["-H", " Authorization : x"], ["--location-trusted"], ["--next"],
      ["-:"],
      ["-K", "file"], ["--config", "-"], ["--libcurl", "x.c"], ["--proto", "=http,https"], ["--proto-default", "http"],
      ["--proto", "-ftp"], ["--proto", "-https"], ["--proto", "https"], ["--proto", "+https"], ["--proto", ""],
      ["--proto", "=https,http"], ["--proto", "-all,=all"], ["--proto", "=https,-+http"],
      ["--proto", "-all,-=http"], ["--proto", "=https,-x\u{600},+http"], ["--proto-redir", "=https,-x+http"],
      ["--proto-redir", "-ftp"], ["--proto-default", "-ftp"],
      ["--proto-redir", "all"], ["--expand-header", "x"], ["--expand-url", "x"], ["--url", "@file"],
      ["http://example.com/"],
      ["ftp://a/"], ["file:///etc/passwd"], ["https://u:p@a/"], ["https://a\\@b/"], ["https://a%2eb/"],
      ["https://{a,b}/"],
      ["https://[1-3].a/"], ["https:///x"], ["https://a b/"], ["https://bücher.example/"],
      ["http://127.0.0.1.evil.example/"],
      ["http://127.0.0.1/", "-x", "http://p:1"], ["http://localhost/", "--resolve", "localhost:80:1.2.3.4"],
      ["http://0177.0.0.1.x/"], ["https://a:1:2/"], ["https://:80/"], ["https://a:/"], ["https://a:080/"],
      ["https://a:65536/"],
      ["http://127.000.000.001/"], ["https://127.1/"], ["https://0x7f.1/"], ["https://a./"], ["https://[::1%25lo]/"],
      [" https://a/"],
      ["-k"], ["--cacert", "f", "--connect-to", "::b:1"], ["--cacert", "f", "-x", "http://p"], ["--engine", "e"],
      ["--interface", "lo", "-x", "http://p", "--cacert", "f"],
      ["--interface", "lo", "--cacert", "f", "--unix-socket", "s"],
      ["--capath", "f", "--interface", "lo", "--resolve", "a:443:1.2.3.4"],
      ["--interface", "lo", "--socks5-hostname", "p", "--cacert", "f"],
      ["--interface", "lo", "--preproxy", "p", "--cacert", "f"],
      ["-E", "pkcs11\\:token=t"], ["-E", "pkcs11:token=t"], ["--key", "PKCS11:a?pin-value=1"],
      ["--proxy-cert", "pkcs11:"], ["--key-type", "eng"],
      ["--cert-type", "PROV"], ["--proxy-key", "pkcs11:x"], ["--expand-cert", "{{x}}"], ["--proxy-key-type", "ENG"],
      ["-H", "Host: b"], ["-H", " HOST:b"], ["-H", ":authority: b"], ["-H", "host;"], ["-H", "@file"],
      ["-H", "Host:\u{301}b"], ["-H", "@\u{301}file"], ["-H", "Authorization: \u{301}b"], ["-H", "A;\u{FE0F}"],
      ["-H", "X: a\r\nHost: b"], ["-A", "a\nb"], ["-b", "a\rb"], ["-e", "a\u{0}b"], ["--proxy-header", "a\r\nb"],
      ["-X", "GET https://b/"], ["-X", ""], ["-X", "TRACE"], ["--request", "Track"],
      ["--request-target", "https://b/"], ["--request-target", "/ HTTP/1.1"],
      ["-X", "CONNECT"],
      ["--expand-user-agent", "{{x}}"], ["--trace", "file"], ["--trace-ascii", "file"], ["-v", "--stderr", "file"],
      ["--trace", "-"], ["--trace-ascii", "-"], ["-v", "--stderr", "-"], ["--stderr", "-", "--trace", "%"],
      ["-sSv", "-o", "f", "--stderr", "-"],
      ["-H", "Content-Length: 1"], ["-H", "content-length:"], ["-HContent-Length;"], ["-H", "Content-Length : 1"],
      ["-H", "Transfer-Encoding: chunked"], ["-H", "Transfer-Encoding:"], ["-H", "transfer-encoding\t: identity"],
      ["-H", "Connection: Upgrade"], ["-H", "Connection: close, Host"], ["-H", "Upgrade: h2c"], ["-H", "TE: trailers"],
      ["-H", "Trailer: Host"], ["-H", "Expect: 100-continue"], ["-H", "Expect;"], ["-H", "Keep-Alive: 1"],
      ["-H", "Proxy-Connection: x"], ["-H", "HTTP2-Settings: x"], ["-H", "Content-Length x: 1"], ["-H", " X: y"],
      ["-H", "X;Content-Length: 1"], ["-H", "X y: z"], ["-H", "X\u{A0}: z"],
      ["https://localhost/", "-k", "-x", "http://p"], ["https://a/", "http://localhost/"],
    ])
  func refused(words: [String]) throws {
    let words = words.contains { $0.contains("://") } ? words : words + ["https://a/"]
    let policy = CurlPolicy(arguments: try CurlArguments(words), anyHost: false)
    #expect(throws: CurlPolicy.Refusal.self) { try policy.urls() }
  }

  @Test("Plain http on this machine is moved by no option", arguments: CurlOptionEffects.moveConnection.sorted())
  func loopbackStays(option: String) throws {
    let words = CurlOptionTable.shape(of: option) == .flag ? ["--" + option] : ["--" + option, "x"]
    for anyHost in [false, true] {
      let policy = CurlPolicy(arguments: try CurlArguments(words + ["http://localhost/"]), anyHost: anyHost)
      #expect(throws: CurlPolicy.Refusal.self) { try policy.urls() }
    }
  }

  @Test("Each option with a meaning of its own is one that curl knows")
  func options() {
    for name in CurlOptionEffects.moveConnection.union(CurlOptionEffects.chooseTrust)
      .union(CurlOptionEffects.freeText)
    { #expect(CurlOptionTable.shape(of: name) != nil, "\(name)") }
  }

  @Test(
    "What is no way to another host passes",
    arguments: [
      ["--cacert", "f"], ["-x", "http://p"], ["--connect-to", "::b:1"], ["--resolve", "a:443:1.2.3.4"],
      ["--noproxy", "x"], ["-X", "PROPFIND"], ["-X", "patch"], ["--request-target", "/x?y"], ["--request-target", "*"],
      ["-d", "a\nb"], ["--data-raw", "a\r\nb"], ["-w", "a\n"], ["-F", "a=b\nc"], ["--expand-data", "{{x}}"], ["-v"],
      ["--trace", "%"], ["--trace-ascii", "%"], ["--stderr", "file"], ["--stderr", "-"], ["-k", "https://localhost/"],
      ["-H", "Hosts: a"],
      ["-k", "--no-insecure"], ["-H", "X:\tb"], ["-H", "Expect:"], ["-H", "connection: Close"], ["-H", "X-Empty;"],
      ["-H", "Content-Type: a; b=c"], ["-H", "Connection:keep-alive"], ["-H", "Content-Length-Note: 1"],
    ])
  func harmless(words: [String]) throws {
    let words = words.contains { $0.hasPrefix("https://") } ? words : words + ["https://a/"]
    let policy = CurlPolicy(arguments: try CurlArguments(words), anyHost: false)
    #expect(try policy.urls().count == 1)
  }

  @Test("A person at a terminal may see what curl sends, and a file may not", arguments: ["-", "file"])
  func shownAtATerminal(place: String) throws {
    for words in [["--trace", place], ["--trace-ascii", place], ["-v", "--stderr", place]] {
      let arguments = try CurlArguments(words + ["https://a/"])
      let policy = CurlPolicy(arguments: arguments, anyHost: false, outputIsTerminal: true)
      #expect((try? policy.urls())?.count == (place == "-" ? 1 : nil))
    }
  }

  @Test("With --any-host the user answers for the host, and for nothing else")
  func anyHost() throws {
    for words in [
      ["-k"], ["-H", "Host: b"], ["-H", "@file"], ["-K", "file"], ["--cacert", "f", "-x", "http://p"],
      ["-H", "Content-Length: 1"], ["--trace", "-"], ["-v", "--stderr", "-"], ["-H", "X y: z"],
      ["--tls13-ciphers", "TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256"],
    ] {
      let policy = CurlPolicy(arguments: try CurlArguments(words + ["https://a/"]), anyHost: true)
      #expect(try policy.urls().count == 1)
    }
    for words in [
      ["-u", "a:b"], ["-X", "a b"], ["-A", "a\nb"], ["--trace", "file"], ["--engine", "e"],
      ["--key", "pkcs11:a"], ["--expand-key", "{{x}}"],
      ["--tls13-ciphers", "TLS_AES_128_GCM_SHA256:TLS_SHA256_SHA256"], ["--tls13-ciphers", "tls_sha384_sha384"],
    ] {
      let policy = CurlPolicy(arguments: try CurlArguments(words + ["https://a/"]), anyHost: true)
      #expect(throws: CurlPolicy.Refusal.self) { try policy.urls() }
    }
  }

  @Test(
    "Ordinary requests pass, and the agent is told the origin alone",
    arguments: [
      ("https://Git.Example.com/p?q=secret#f", "https://git.example.com"), ("a.example/x", "https://a.example"),
      ("https://a:8443", "https://a:8443"), ("http://127.0.0.1:80/x", "http://127.0.0.1"),
      ("http://[::1]:8080/", "http://[::1]:8080"), ("http://localhost/", "http://localhost"),
      ("https://a/x@y", "https://a"), ("HTTPS://a?x", "https://a"), ("a?next=https://b/", nil),
    ] as [(String, String?)])
  func accepted(url: String, origin: String?) throws {
    let policy = CurlPolicy(
      arguments: try CurlArguments(["--proto", "=https", "-H", "X-Authorization: a", "-L", url]), anyHost: false)
    if let origin {
      #expect(try policy.urls().map(\.origin.description) == [origin])
    } else {
      #expect(throws: CurlPolicy.Refusal.self) { try policy.urls() }
    }
  }

  @Test(
    "A request is sent a second time only where that is safe",
    arguments: [
      (["https://a/"], nil), (["-d", "x", "https://a/"], nil), (["https://a/", "https://b/"], "several URLs"),
      (["https://a/{x,y}"], "several URLs"), (["-g", "https://a/{x,y}"], nil), (["https://a/[1-3]"], "several URLs"),
      (["-Z", "https://a/"], "--parallel"), (["-C", "-", "https://a/"], "--continue-at"),
      (["--no-clobber", "-O", "https://a/"], "--no-clobber"), (["-OJ", "https://a/"], "--remote-header-name"),
      (["--etag-compare", "e", "-o", "f", "https://a/"], "--etag-compare"),
      (["--etag-compare", "e", "https://a/"], nil),
      (["-H", "if-None-match: x", "-o", "f", "https://a/"], "if-None-match"),
      (["-H", "If: x", "-O", "https://a/x"], nil),
      (["-T", ".", "https://a/"], "--upload-file ."), (["-T", "-", "https://a/"], nil),
    ] as [([String], String?)])
  func retry(words: [String], obstacle: String?) throws {
    let policy = CurlPolicy(arguments: try CurlArguments(words), anyHost: false)
    #expect(policy.obstacleToRetry(try policy.urls()) == obstacle)
  }

  @Test("The token stands in the configuration text alone, and can end neither its line nor its string")
  func settings() throws {
    let url = try CurlURL("https://a/", globbing: true)
    let text = try CurlSettings(urls: [url], isInteractive: false, noticesProgress: false)
      .text(Self.token(#"a"b\c"#), headersPath: "/dev/fd/7")
    #expect(text.hasPrefix(#"header = "Authorization: Bearer a\"b\\c""# + "\n"))
    #expect(text.contains(#"proto = "=https""# + "\n") && text.contains(#"dump-header = "/dev/fd/7""# + "\n"))
    for bad in ["a\nb", "", "a b", "a\u{0}b"] {
      #expect(throws: HelperFormatError.self) {
        try CurlSettings(urls: [url], isInteractive: false, noticesProgress: false).text(
          Self.token(bad), headersPath: nil)
      }
    }
  }

  @Test(
    "Plain http on this machine meets no proxy, and neither does https there that is not checked",
    arguments: [
      (["http://127.0.0.1:1/"], true), (["-k", "https://localhost/"], true), (["https://localhost/"], false),
      (["https://a/"], false),
    ])
  func loopback(words: [String], stays: Bool) throws {
    let arguments = try CurlArguments(["--noproxy", "x"] + words.dropLast() + ["--"] + words.suffix(1))
    let urls = try CurlPolicy(arguments: arguments, anyHost: false).urls()
    let settings = CurlSettings(
      urls: urls, staysOnThisMachine: CurlPolicy.staysOnThisMachine(urls, arguments), isInteractive: true,
      noticesProgress: false)
    // In front of the `--`, behind which nothing is an option.
    let last = arguments.words(andLast: settings.lastWords(ciphers: nil)).drop { $0 != "*" }.dropFirst()
    #expect(last.elementsEqual(stays ? ["--"] + words.suffix(1) : []))
    for variable in ["http_proxy", "ALL_PROXY", "all_proxy", "No_Proxy"] {
      #expect(settings.isLeftOut(variable) == stays)
    }
    #expect(!settings.isLeftOut("PATH") && !settings.isLeftOut("proxy"))
  }

  @Test("Plain http is allowed where the URL says it, and a terminal gets the body as it comes")
  func settingsForLoopback() throws {
    let url = try CurlURL("http://127.0.0.1:1/", globbing: true)
    let text = try CurlSettings(urls: [url], isInteractive: true, noticesProgress: false).text(
      Self.token("a"), headersPath: nil)
    #expect(text.contains(#"proto = "=http,https""#))
    #expect(text.contains("no-buffer\n") && text.contains("no-progress-meter\n") && !text.contains("dump-header"))
  }

  @Test("An account's own authority is the only one that is trusted: not those of the system's folder beside it")
  func settingsForAuthority() throws {
    let url = try CurlURL("https://a/", globbing: true)
    let text = try CurlSettings(urls: [url], isInteractive: false, authority: 9, noticesProgress: false).text(
      Self.token("a"), headersPath: nil)
    #expect(text.contains(#"cacert = "/dev/fd/9""# + "\n" + #"capath = "/dev/null""# + "\n"))
  }

  @Test(
    "A body is held only while its status may still be a 401 that a new token cures",
    arguments: [
      ("HTTP/1.1 200 OK\r\n\r\n", true, false), ("HTTP/1.1 302 F\r\nLocation: /x\r\n\r\n", false, false),
      ("HTTP/1.1 302 F\r\nLocation: /x\r\n\r\nHTTP/2 404\r\n\r\n", true, false),
      ("HTTP/1.1 304 N\r\n\r\n", true, false),
      ("HTTP/2 401\r\nwww-authenticate: Bearer\r\n\r\n", false, true), ("HTTP/2 401\r\n\r\n", false, true),
      ("HTTP/2 401\r\nwww-authenticate: Bearer error=\"insufficient_scope\"\r\n\r\n", false, false),
      ("HTTP/2 401\r\nwww-authenticate: Basic realm=x\r\n\r\n", false, false),
      ("HTTP/1.1 200 OK\r\nA: b\r\n", false, false),
    ])
  func holding(dump: String, isSettled: Bool, mayBeCured: Bool) throws {
    let head = try #require(HeaderDump(Array(dump.utf8)))
    #expect(head.isSettled == isSettled)
    #expect(head.isRejection() == mayBeCured)
  }
}
