import FetchWire
import Testing

@testable import oauthd_redirect

@Suite("The certificate of an https redirect")
struct BrowserTLSTests {
  /// For `Localhost`, `*.example`, 127.0.0.1 and ::1, with the common name other.example, in the years 2020 to 2029.
  private static let chain = """
    -----BEGIN CERTIFICATE-----
    MIIBWzCCAQCgAwIBAgIBATAKBggqhkjOPQQDAjAYMRYwFAYDVQQDDA1vdGhlci5l
    eGFtcGxlMB4XDTIwMDEwMTAwMDAwMFoXDTMwMDEwMTAwMDAwMFowGDEWMBQGA1UE
    AwwNb3RoZXIuZXhhbXBsZTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABCfdsZcy
    Yhk7ce1gNEJbMuE2W4hqXrAYmA9tRHHYsJom5LZ6o4mEeSS+5H2Umi4XlFHcPDru
    jekHMv2Jd23RogGjOzA5MDcGA1UdEQQwMC6CCUxvY2FsaG9zdIIJKi5leGFtcGxl
    hwR/AAABhxAAAAAAAAAAAAAAAAAAAAABMAoGCCqGSM49BAMCA0kAMEYCIQD0N9Ta
    SQYamkAY8aNeae6l/IWuSsh8gh4/5v13hvoBSAIhAJWyyJKbKOW6vMABj18SMDz7
    nb67xlJNgp1zRwbCi4Iy
    -----END CERTIFICATE-----

    """

  private static func key(_ bytes: String, kind: String = "") -> String {
    "-----BEGIN \(kind)PRIVATE KEY-----\n\(bytes)\n-----END \(kind)PRIVATE KEY-----\n"
  }

  private static let own = key(
    """
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgoY693lfQfR45gHNa
    YHNd34EzO9UF1oDDaB0pOmXK0nqhRANCAAQn3bGXMmIZO3HtYDRCWzLhNluIal6w
    GJgPbURx2LCaJuS2eqOJhHkkvuR9lJouF5RR3Dw67o3pBzL9iXdt0aIB
    """)
  private static let another = key(
    """
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgdpG/ZQfj30TVPE9p
    tj5PgP5JeZwhtkztQ/bhlzWZAFOhRANCAASYKexQNq/EcYDACsqi5KT2ShWg/QqB
    OWAekN0g4YH8An4tDAxDcodKl9PAiwzXIH5P9onbMKCrdUE5HTnDMAC0
    """)
  private static let sealed = key("MIH0MF8GCSqGSIb3DQEFDTBSMDEGCSqGSIb3DQEFDDAkBBDk9JPFXn7alVKl", kind: "ENCRYPTED ")
  private static let sealedBefore = key("Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,002A\n\nAAAA", kind: "EC ")

  static let begin = 1_577_836_800
  private static let end = 1_893_456_000

  static let good = RedirectCertificate(host: "localhost", chain: Array(chain.utf8), key: Array(own.utf8))

  private func problem(
    chain: String = chain, key: String = own, host: String = "localhost", now: Int = begin
  ) -> RedirectCertificateProblem? {
    do throws(RedirectCertificateProblem) {
      let certificate = RedirectCertificate(host: host, chain: Array(chain.utf8), key: Array(key.utf8))
      _ = try BrowserTLS(certificate, now: now)
      return nil
    } catch { return error }
  }

  @Test(
    "It is taken for each name and address that it holds", arguments: ["localhost", "LOCALHOST", "127.0.0.1", "::1"])
  func names(_ host: String) { #expect(problem(host: host) == nil) }

  @Test(
    "It is taken for no other: neither the common name nor a wildcard counts",
    arguments: ["other.example", "a.example", "b.a.example", "127.0.0.2", "::", "localhost.", "local"])
  func otherNames(_ host: String) { #expect(problem(host: host) == .nameMissing) }

  @Test("It is taken from the first second that it names to the last")
  func dates() {
    #expect(problem(now: Self.end) == nil)
    #expect(problem(now: Self.begin - 1) == .notYetValid(until: Self.begin))
    #expect(problem(now: Self.end + 1) == .expired(at: Self.end))
  }

  @Test("A chain behind it is taken, and what is no certificate is told")
  func chains() {
    #expect(problem(chain: Self.chain + Self.chain) == nil)
    for text in ["x", Self.own, Self.chain + String(Self.chain.dropLast(100)), String(Self.chain.dropFirst(90))] {
      #expect(problem(chain: text) == .chainUnreadable)
    }
  }

  @Test("A key that is another's, that has a passphrase, or that is none is told as that")
  func keys() {
    #expect(problem(key: Self.another) == .keyOfAnother)
    for text in [Self.sealed, Self.sealedBefore] { #expect(problem(key: text) == .keyHasPassphrase) }
    for text in ["x", Self.chain, String(Self.own.dropLast(60))] { #expect(problem(key: text) == .keyUnreadable) }
  }
}
