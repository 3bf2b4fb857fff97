import OAuthProtocol
import OAuthTerms
import Sealing
import Testing

@testable import Signing

@Suite("The certificate of a client's key (RFC 8705)")
struct ClientCertificateTests {
  private static let now: Int64 = 1_800_000_000

  private func certified(_ key: ClientKey, name: String = "work") throws -> ClientKey {
    key.with(try ClientCertificate(selfSignedBy: key.key, name: name, now: Self.now, random: SystemRandom()))
  }

  @Test("one that a key signs itself is for that key, and good for ten years", arguments: SignatureAlgorithm.allCases)
  func selfSigned(algorithm: SignatureAlgorithm) throws {
    let key =
      switch algorithm {
      case .es256, .es384, .edDSA: try ClientKey(newFor: algorithm)
      case .rs256, .ps256: try ClientKey(der: try GivenKey(Secret(Vectors.rsa)).der, algorithm: algorithm.rawValue)
      }
    let made = try #require(try certified(key).certificate)
    let read = try ClientCertificate(chain: made.chain, of: key.key)
    #expect(read == made && made.ends == Self.now + 3_650 * 86_400)
    let other = try ClientKey(newFor: .es256)
    #expect(throws: SigningError.noKey("the certificate is for another key")) {
      try ClientCertificate(chain: made.chain, of: other.key)
    }
  }

  @Test("what the vault keeps is both again, and the public JWK holds it (RFC 7517 §4.7)")
  func stored() throws {
    let key = try ClientKey(newFor: .es256)
    let certified = try certified(key)
    let again = try ClientKey(stored: certified.stored)
    #expect(again.certificate == certified.certificate && again.key.pkcs8 == key.key.pkcs8)
    #expect(ClientKey.hasCertificate(certified.stored) && !ClientKey.hasCertificate(key.stored))
    #expect(ClientKey.isStored(certified.stored))
    let digits = try #require(certified.certificate?.chain.first.map { Base64URL.padded($0) })
    #expect(certified.publicJWK == key.publicJWK.dropLast() + ",\"x5c\":[\"\(digits)\"]}")
    #expect(throws: SigningError.self) { try ClientKey(stored: Secret(key.stored.reveal() + " AAAA")) }
    #expect(throws: SigningError.self) { try ClientKey(stored: Secret(key.stored.reveal() + " *")) }
  }

  @Test("what is no certificate, is cut, is followed by more, or is too many, is refused")
  func refused() throws {
    let key = try ClientKey(newFor: .es256)
    let one = try #require(try certified(key).certificate?.chain.first)
    for chain in [[], [[]], [Array(one.dropLast())], [one + [0]], [one, [0x30]], Array(repeating: one, count: 6)] {
      #expect(throws: SigningError.self) { try ClientCertificate(chain: chain, of: key.key) }
    }
    #expect(throws: Never.self) { try ClientCertificate(chain: Array(repeating: one, count: 5), of: key.key) }
    let large = [[UInt8](repeating: 0x30, count: ClientCertificate.limitBytes + 1)]
    #expect(throws: SigningError.self) { try ClientCertificate(chain: large, of: key.key) }
    // A common name has 64 bytes (RFC 5280 App. A.1).
    #expect(throws: Never.self) { try certified(key, name: String(repeating: "a", count: 63)) }
    #expect(throws: SigningError.self) { try certified(key, name: String(repeating: "a", count: 65)) }
  }
}
