import Testing

@testable import AgentRuntime

@Suite("What stands in a PEM text and is meant to")
struct PEMBlocksTests {
  private static let one = "-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n"
  private static let list = "-----BEGIN X509 CRL-----\r\nYg==\r\n-----END X509 CRL-----\r\n"
  private static let key = "-----BEGIN PRIVATE KEY-----\nYw==\n-----END PRIVATE KEY-----\n"
  private static let ssh = "-----BEGIN OPENSSH PRIVATE KEY-----\nYw==\n-----END OPENSSH PRIVATE KEY-----\n"

  private func certificates(_ text: String) -> String {
    String(decoding: PEMBlocks.certificates(in: Array(text.utf8)), as: UTF8.self)
  }

  private func privateKey(_ text: String) -> String? {
    let bytes = Array(text.utf8)
    return PEMBlocks.privateKey(in: bytes).map { String(decoding: bytes[$0], as: UTF8.self) }
  }

  @Test("Certificates are all that is left of it, as they stand there")
  func blocks() {
    let cases = [
      (Self.one, Self.one), ("text\n" + Self.one + "more\n" + Self.list, Self.one + Self.list),
      (Self.key + Self.one + Self.key, Self.one), (String(Self.one.dropLast()), String(Self.one.dropLast())),
    ]
    for (text, left) in cases { #expect(certificates(text) == left) }
  }

  @Test("A key is no certificate, nor is what has no end, or only its mark within a line")
  func none() {
    for text in ["", "\n", Self.key, "vault key", "-----BEGIN CERTIFICATE-----\nYQ==\n", " " + Self.one] {
      #expect(certificates(text) == "")
    }
  }

  @Test("A block that another mark stands in is none, whatever stands behind a mark on its line")
  func odd() {
    let begin = "-----BEGIN CERTIFICATE-----"
    for odd in [begin + " of mine\n", begin + "\n", begin + "\nYQ==\n"] {
      #expect(certificates(odd + Self.key + Self.one) == Self.one)
    }
    #expect(certificates(Self.one.replacing("-----\n", with: "-----  \r\n")) != "")
  }

  @Test("Words beside the certificates are not what a login is bound to")
  func digest() {
    func digest(_ text: String) -> String { PEMBlocks.digest(ofAuthority: Array(text.utf8)) }
    #expect(digest("# mine\n" + Self.one) == digest(Self.one) && digest(Self.one) != digest(Self.list))
    #expect(digest("a") != digest("b"), "what holds no certificate is bound whole, and refused when it is used")
  }

  @Test("The first private key is found behind certificates and parameters")
  func keys() {
    let old = Self.key.replacing("PRIVATE", with: "EC PRIVATE")
    let parameters = "-----BEGIN EC PARAMETERS-----\nYg==\n-----END EC PARAMETERS-----\n"
    #expect(privateKey(Self.one + Self.key + old) == Self.key)
    #expect(privateKey(parameters + old) == old)
    let locked = Self.key.replacing("PRIVATE", with: "ENCRYPTED PRIVATE")
    #expect(privateKey(locked) == locked, "whoever reads it says that it has a passphrase")
  }

  @Test("No other private file is a key, such as one of ssh or the vault's")
  func noKey() {
    for text in ["", "vault key", Self.one, Self.ssh, "-----BEGIN PRIVATE KEY-----\nYw==\n"] {
      #expect(privateKey(text) == nil)
    }
  }
}
