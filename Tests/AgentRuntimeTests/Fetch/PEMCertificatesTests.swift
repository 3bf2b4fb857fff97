import Testing

@testable import AgentRuntime

@Suite("The certificates of a PEM text")
struct PEMCertificatesTests {
  private static let one = "-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n"
  private static let list = "-----BEGIN X509 CRL-----\r\nYg==\r\n-----END X509 CRL-----\r\n"
  private static let key = "-----BEGIN PRIVATE KEY-----\nYw==\n-----END PRIVATE KEY-----\n"

  @Test("They are all that is left of it, as they stand there")
  func blocks() {
    let cases = [
      (Self.one, Self.one), ("text\n" + Self.one + "more\n" + Self.list, Self.one + Self.list),
      (Self.key + Self.one + Self.key, Self.one), (String(Self.one.dropLast()), String(Self.one.dropLast())),
    ]
    for (text, left) in cases { #expect(PEMCertificates.blocks(in: Array(text.utf8)) == Array(left.utf8)) }
  }

  @Test("A key is none, nor is what has no end, or only its mark within a line")
  func none() {
    for text in ["", "\n", Self.key, "vault key", "-----BEGIN CERTIFICATE-----\nYQ==\n", " " + Self.one] {
      #expect(PEMCertificates.blocks(in: Array(text.utf8)).isEmpty)
    }
  }
}
