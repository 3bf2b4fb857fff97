/// curl's options by what they mean for the question who gets the token.
package enum CurlOptionEffects {
  /// They choose which machine is spoken to, whatever host the URL names. TLS with curl's own authorities still finds out;
  /// plain http and a check that was taken away do not.
  package static let moveConnection: Set<String> = [
    "abstract-unix-socket", "alt-svc", "connect-to", "dns-interface", "dns-ipv4-addr", "dns-ipv6-addr", "dns-servers",
    "doh-url", "hsts", "interface", "preproxy", "proxy", "proxy1.0", "proxytunnel", "resolve", "socks4", "socks4a",
    "socks5", "socks5-hostname", "unix-socket",
  ]

  /// With one of them the user has said whose word is taken for who a server is.
  package static let sayTrust: Set<String> = ["cacert", "capath", "ca-native", "insecure"]

  /// They choose who may say that, by a name or by a password that both ends know.
  package static let chooseTrust: Set<String> = ["cacert", "capath", "tlsauthtype", "tlspassword", "tlsuser"]

  /// Their values are a body, or a text for the output: line ends are theirs. Of all others they would end up inside the
  /// head of the request.
  package static let freeText: Set<String> = [
    "data", "data-ascii", "data-binary", "data-raw", "data-urlencode", "form", "form-string", "json", "url-query",
    "write-out",
  ]

  /// Header fields that only curl may set: they say where a request ends, and what comes after it on its connection.
  /// Behind a wrong end the rest of a body is a request of its own, to any host behind the same address, and the next
  /// request, with its token, is that one's body.
  private static let framing: Set<String> = [
    "connection", "content-length", "expect", "http2-settings", "keep-alive", "proxy-connection", "te", "trailer",
    "transfer-encoding", "upgrade",
  ]

  /// Whether a field of that name is for the account, the URL or curl alone to set. `value` is nil for `Name;`.
  package static func isReserved(header name: String, value: String?) -> Bool {
    let words = value?.split(whereSeparator: { $0 == " " || $0 == "\t" }).map { String($0) }
    // The habits there are: a body that is sent unasked, and one connection for each request.
    if name == "expect", let words, words.isEmpty { return false }
    if name == "connection", let words, words == ["close"] || words == ["keep-alive"] { return false }
    return ["authorization", "host", ""].contains(name) || framing.contains(name)
  }

  /// Whether an option has OpenSSL load a library: by its name, or as curl has it for a certificate or key at an address of
  /// PKCS #11 (RFC 7512), or of the types ENG and PROV. `value`: nil where it cannot be read.
  package static func loadsCode(_ option: String, _ value: String?) -> Bool {
    // As curl reads a colon that is no end of a name.
    let value = value?.lowercased().replacing("\\", with: "")
    return switch option {
    case "engine": true
    case "cert", "key", "proxy-cert", "proxy-key": value?.hasPrefix("pkcs11:") ?? true
    case "cert-type", "key-type", "proxy-cert-type", "proxy-key-type":
      value.map { ["eng", "prov"].contains($0) } ?? true
    default: false
    }
  }

  /// A list of OpenSSL's ciphers without those that encrypt nothing, or tell nobody who answers: many names of others hold them.
  package static func encrypting(ciphers list: String) -> String { list + ":!eNULL:!aNULL" }

  /// Whether a list of ciphers of TLS 1.3 has one that encrypts nothing (RFC 9150), which OpenSSL 3.4 and later knows.
  package static func leavesReadable(tls13Ciphers list: String) -> Bool {
    let list = list.uppercased()
    return ["TLS_SHA256_SHA256", "TLS_SHA384_SHA384"].contains { list.contains($0) }
  }

  /// A path, or `*`: the absolute form names a host, and that is believed before the Host field (RFC 9112 §3.2.2).
  package static func isTarget(_ text: String) -> Bool {
    text == "*" || text.hasPrefix("/") && text.utf8.allSatisfy { (0x21...0x7E).contains($0) || $0 >= 0x80 }
  }
}
