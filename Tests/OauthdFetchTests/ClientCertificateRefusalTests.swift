import Testing

@testable import oauthd_fetch

@Suite("A server that ends the connection for want of the client's certificate")
struct ClientCertificateRefusalTests {
  @Test(
    "It is known by the alert, before the request and behind it, and told in its words (RFC 8446 §6.2)",
    arguments: [
      ("error:0A000415:SSL routines::sslv3 alert certificate expired", "certificate expired"),
      (
        "OpenSSL SSL_read: error:0A00045C:SSL routines::tlsv13 alert certificate required, errno 0",
        "certificate required"
      ),
      ("TLS connect error: error:0A000418:SSL routines::tlsv1 alert unknown ca", "unknown authority"),
    ])
  func refused(text: String, words: String) {
    #expect(ClientCertificateRefusal.told(text, wasShown: true)?.contains("(\(words))") == true)
  }

  @Test(
    "Where none was shown, two alerts say that one is wanted",
    arguments: [("412", true), ("45C", true), ("418", false)])
  func notShown(number: String, isWanted: Bool) {
    let told = ClientCertificateRefusal.told("error:0A000\(number):SSL routines::an alert", wasShown: false)
    #expect((told?.contains("none was shown") == true) == isWanted)
  }

  @Test("An answer that is no TLS is known by OpenSSL's number, whatever words stand behind it")
  func plain() {
    #expect(OpenSSLReason(in: "OpenSSL/3.0.19: error:0A00010B:SSL routines::x") == .wrongVersionNumber)
    #expect(OpenSSLReason(in: "error:0A00010A:SSL routines::wrong version number") != .wrongVersionNumber)
    #expect(OpenSSLReason(in: "wrong version number") == nil)
  }

  @Test(
    "Every other failure is another one: an alert about something else, our own refusal, no number",
    arguments: [
      "error:0A000410:SSL routines::sslv3 alert handshake failure",
      "error:0A000086:SSL routines::certificate verify failed",
      "error:0A", "error:0A0004150", "error:0A00041", "error:0B000415:x", "", "Connection refused",
    ])
  func others(text: String) {
    #expect(ClientCertificateRefusal.told(text, wasShown: true) == nil)
    #expect(ClientCertificateRefusal.told(text, wasShown: false) == nil)
  }
}
