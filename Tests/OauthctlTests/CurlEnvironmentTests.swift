import AgentWire
import Testing

@testable import oauthctl

@Suite("What curl gets of the environment")
struct CurlEnvironmentTests {
  @Test(
    "Nothing writes down what is sent, and code comes from where programs do",
    arguments: [
      ("SSLKEYLOGFILE", "/home/u/keys", nil), ("QLOGDIR", "/home/u", nil), ("GNUTLS_DEBUG_LEVEL", "9", nil),
      ("CURL_DEBUG", "all", nil), ("SSLDEBUGFILE", "f", nil),
      // Of a folder nobody knows what its links lead to.
      ("LD_LIBRARY_PATH", "/a:/usr/bin", nil), ("OPENSSL_MODULES", "/a", nil), ("OPENSSL_ENGINES", "/a", nil),
      ("OPENSSL_CONF_INCLUDE", "/a", nil),
      ("GCONV_PATH", "/a", nil),
      ("OPENSSL_CONF", "/a/curl", "/a/curl"), ("OPENSSL_CONF", "curl", nil), ("OPENSSL_CONF", "/evil/bin/curl", nil),
      ("PKCS11_MODULE_PATH", "/a/curl", "/a/curl"), ("PKCS11_MODULE_PATH", "/evil/bin/curl", nil),
      ("PKCS11_PROVIDER_MODULE", "curl", nil),
      ("LD_PRELOAD", "libeatmydata.so /a/curl", "/a/curl"), ("LD_PRELOAD", "./curl:/tmp/own/none", nil),
      ("LD_AUDIT", "bin/curl", nil), ("LD_PRELOAD", "/a/$LIB/own.so:/a/curl:/a/link", "/a/curl"),
      ("LD_AUDIT", "/a/${ORIGIN}/own.so", nil),
      // What is read here as text would be handed on as bytes.
      ("OPENSSL_CONF", "/a/\u{fffd}", nil), ("LD_PRELOAD", "/a/\u{600}$LIB/own.so:\u{301}/a/none", nil),
      // What people choose their authorities, proxies and words with stays.
      ("CURL_CA_BUNDLE", "f", "f"), ("SSL_CERT_FILE", "f", "f"), ("https_proxy", "p", "p"), ("LANG", "C", "C"),
      ("A", "", ""),
    ] as [(String, String, String?)])
  func passed(name: String, value: String, expected: String?) {
    // Folders may well be called so.
    var here: [String: ProgramLookupTests.Status] = [:]
    for folder in ["/a/$LIB", "/a/${ORIGIN}", "/a/\u{600}$LIB"] {
      here[folder] = ProgramLookupTests.Status(kind: .directory, owner: 0, mode: 0o755)
      here["\(folder)/own.so"] = ProgramLookupTests.Status(kind: .other, owner: 0, mode: 0o644)
    }
    here["/a/\u{fffd}"] = ProgramLookupTests.Status(kind: .other, owner: 0, mode: 0o644)
    let lookup = ProgramLookupTests.lookup("/usr/bin", here, links: ["/a/link": "/a/$LIB/own.so"])
    #expect(CurlEnvironment.passed(name, value, lookup) == expected)
  }
}
