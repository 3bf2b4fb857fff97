/// One challenge of a `WWW-Authenticate` field (RFC 9110 §11.6.1).
package struct Challenge: Sendable, Equatable {
  /// Lower case.
  package var scheme: String
  /// In order; names in lower case.
  package var parameters: [Parameter] = []

  package struct Parameter: Sendable, Equatable {
    package var name: String
    package var value: String
  }

  /// The value of a parameter, nil when it is not there.
  package func parameter(_ name: String) -> String? { parameters.first { $0.name == name }?.value }

  /// Most fields, challenges in all, and parameters of each that are read: no server needs a tenth of them.
  package static let limit = 32
  /// Longest field that is read.
  package static let limitBytes = 16_384

  /// Reads the values of all such fields: several challenges in each, quoted strings that hold commas, token68 (which is
  /// passed over). From the first thing that cannot be read on, nothing of a field is read.
  package static func parse(_ fields: [String]) -> [Challenge] {
    var challenges: [Challenge] = []
    for field in fields.prefix(limit) where field.utf8.count <= limitBytes {
      var reader = ChallengeReader(field.utf8)
      challenges += reader.challenges(atMost: limit - challenges.count)
    }
    return challenges
  }
}

private struct ChallengeReader {
  private let bytes: [UInt8]
  private var at = 0

  init(_ text: String.UTF8View) { bytes = Array(text) }

  mutating func challenges(atMost limit: Int) -> [Challenge] {
    var result: [Challenge] = []
    while result.count < limit {
      skip { Self.isBlank($0) || $0 == UInt8(ascii: ",") }
      let scheme = token()
      if scheme.isEmpty { return result }
      var challenge = Challenge(scheme: scheme.lowercased())
      let hadBlank = skip(Self.isBlank)
      if at == bytes.count || isAtComma {
        result.append(challenge)
        continue
      }
      guard hadBlank else { return result }
      let isWhole = credentials(&challenge)
      result.append(challenge)
      if !isWhole { break }
    }
    return result
  }

  /// What follows a scheme. False when something cannot be read.
  private mutating func credentials(_ challenge: inout Challenge) -> Bool {
    while at < bytes.count {
      let start = at
      let name = token()
      let afterName = at
      skip(Self.isBlank)
      guard at < bytes.count, bytes[at] == UInt8(ascii: "=") else {
        // Without parameters so far it is a token68; else a new challenge begins here.
        guard challenge.parameters.isEmpty else {
          at = start
          return !name.isEmpty
        }
        at = start
        skip { HTTPToken.isTokenCharacter($0) || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "=") }
        skip(Self.isBlank)
        return at > start && (at == bytes.count || isAtComma)
      }
      at += 1
      skip(Self.isBlank)
      if at == bytes.count || bytes[at] == UInt8(ascii: "=") || isAtComma {
        // `name=` and `name==` are token68 with padding.
        guard challenge.parameters.isEmpty, !name.isEmpty, afterName < bytes.count else { return false }
        skip { $0 == UInt8(ascii: "=") || Self.isBlank($0) }
        return at == bytes.count || isAtComma
      }
      guard !name.isEmpty, challenge.parameters.count < Challenge.limit, let value = value() else { return false }
      challenge.parameters.append(.init(name: name.lowercased(), value: value))
      skip(Self.isBlank)
      guard at < bytes.count else { return true }
      guard isAtComma else { return false }
      skip { Self.isBlank($0) || $0 == UInt8(ascii: ",") }
    }
    return true
  }

  private var isAtComma: Bool { at < bytes.count && bytes[at] == UInt8(ascii: ",") }

  @discardableResult
  private mutating func skip(_ matches: (UInt8) -> Bool) -> Bool {
    let start = at
    while at < bytes.count, matches(bytes[at]) { at += 1 }
    return at > start
  }

  private mutating func token() -> String {
    let start = at
    skip(HTTPToken.isTokenCharacter)
    return String(decoding: bytes[start..<at], as: UTF8.self)
  }

  private mutating func value() -> String? {
    if bytes[at] == UInt8(ascii: "\"") { return quotedString() }
    // Some servers leave the quotes away round what is no token, a URL for instance.
    let start = at
    skip { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "\"") }
    guard at > start, at == bytes.count || isAtComma || Self.isBlank(bytes[at]) else { return nil }
    return String(decoding: bytes[start..<at], as: UTF8.self)
  }

  private mutating func quotedString() -> String? {
    at += 1
    var value: [UInt8] = []
    while at < bytes.count {
      var byte = bytes[at]
      at += 1
      if byte == UInt8(ascii: "\"") { return String(decoding: value, as: UTF8.self) }
      if byte == UInt8(ascii: "\\") {
        guard at < bytes.count else { return nil }
        byte = bytes[at]
        at += 1
      }
      value.append(byte)
    }
    return nil
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
