package import Sealing

/// A secret inside a record. Records are encoded only into the sealed vault; elsewhere it prints as `<secret>`.
package struct StoredSecret: Codable, Sendable, Equatable {
  package var secret: Secret

  package init(_ secret: Secret) { self.secret = secret }

  package init(from decoder: any Decoder) throws {
    secret = Secret(try decoder.singleValueContainer().decode(String.self))
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(secret.reveal())
  }
}
