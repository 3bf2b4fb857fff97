/// `key.set`: gives an account the private key by which its client proves itself, or makes one. It is never read back.
package struct KeySet: RequestParameters {
  package typealias Answer = KeySetAnswer
  package static let method = Method.keySet

  package var account: String
  /// PEM, its line ends as blanks, or a JWK; 1 to 32,768 bytes. Nil: a new one is made.
  package var key: String?
  /// Of a new one.
  package var algorithm: String?
  /// Puts it in the place of one that is kept.
  package var replace: Bool?
  /// As in `secret.set`.
  package var secretPlace: String?

  package init(
    account: String, key: String? = nil, algorithm: String? = nil, replace: Bool? = nil, secretPlace: String? = nil
  ) {
    self.account = account
    self.key = key
    self.algorithm = algorithm
    self.replace = replace
    self.secretPlace = secretPlace
  }

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable {
    case account, key, algorithm, replace
    case secretPlace = "secret_place"
  }
}

package struct KeySetAnswer: Codable, Sendable, Equatable {
  /// A JWK (RFC 7517), as a server's registration takes it.
  package var publicKey: String
  /// True: a certificate came alone, for the key that was kept before; nil: the key is the one that was given or made.
  package var isCertificateAlone: Bool?

  package init(publicKey: String, isCertificateAlone: Bool? = nil) {
    self.publicKey = publicKey
    self.isCertificateAlone = isCertificateAlone
  }

  package enum CodingKeys: String, CodingKey {
    case publicKey = "public_key"
    case isCertificateAlone = "certificate_alone"
  }
}
