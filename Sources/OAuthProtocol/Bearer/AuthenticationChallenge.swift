import HTTPTerms

/// One challenge of a `WWW-Authenticate` field (RFC 9110 §11.3, §11.6.1).
package struct AuthenticationChallenge: Sendable, Equatable {
  /// Lower case.
  package let scheme: String
  package let token68: String?
  /// Names in lower case, in order; of a repeated name the first counts.
  package let parameters: [HTTPField]

  package func parameter(_ name: String) -> String? { parameters.first { $0.name == name }?.value }

  /// All challenges of all fields, in order, at most 32 of at most 32 parameters. Of a malformed field what came before
  /// the fault counts; a field beyond 16 KiB is left out.
  package static func parse(_ fields: [String]) -> [AuthenticationChallenge] {
    var challenges: [AuthenticationChallenge] = []
    for field in fields.prefix(32) where field.utf8.count <= 16_384 {
      var scanner = ChallengeScanner(field)
      while challenges.count < 32, let challenge = scanner.next() { challenges.append(challenge) }
    }
    return challenges
  }
}

private struct ChallengeScanner {
  private let bytes: [UInt8]
  private var position = 0

  init(_ field: String) { bytes = Array(field.utf8) }

  mutating func next() -> AuthenticationChallenge? {
    skip { isBlank($0) || $0 == UInt8(ascii: ",") }
    guard let scheme = token() else { return nil }
    let blanks = skip(isBlank)
    guard position == bytes.count || blanks > 0 || bytes[position] == UInt8(ascii: ",") else {
      position = bytes.count
      return nil
    }
    if blanks > 0, let token68 = token68() {
      return AuthenticationChallenge(scheme: scheme.lowercased(), token68: token68, parameters: [])
    }
    var parameters: [HTTPField] = []
    while parameters.count < 32 {
      let start = position
      guard let parameter = parameter() else {
        // Not name=value: the next challenge begins here, unless the field is broken.
        position = start
        break
      }
      parameters.append(parameter)
      skip(isBlank)
      guard position == bytes.count || bytes[position] == UInt8(ascii: ",") else {
        position = bytes.count
        break
      }
    }
    return AuthenticationChallenge(scheme: scheme.lowercased(), token68: nil, parameters: parameters)
  }

  private mutating func parameter() -> HTTPField? {
    skip { isBlank($0) || $0 == UInt8(ascii: ",") }
    guard let name = token() else { return nil }
    skip(isBlank)
    guard take(UInt8(ascii: "=")) else { return nil }
    skip(isBlank)
    guard let value = quotedString() ?? looseToken() else {
      position = bytes.count
      return nil
    }
    return HTTPField(name.lowercased(), value)
  }

  private mutating func token() -> String? {
    let start = position
    skip(isTokenByte)
    return start < position ? text(bytes[start..<position]) : nil
  }

  /// An unquoted value; some servers leave the quotes away round what is no token.
  private mutating func looseToken() -> String? {
    let start = position
    skip { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "\"") }
    return start < position ? text(bytes[start..<position]) : nil
  }

  /// Only when the challenge ends after it; else it was the name of a parameter.
  private mutating func token68() -> String? {
    let start = position
    guard skip({ isTokenByte($0) && !Array("!#$%&'*^`|".utf8).contains($0) || $0 == UInt8(ascii: "/") }) > 0 else {
      return nil
    }
    skip { $0 == UInt8(ascii: "=") }
    let end = position
    skip(isBlank)
    guard position == bytes.count || bytes[position] == UInt8(ascii: ",") else {
      position = start
      return nil
    }
    return text(bytes[start..<end])
  }

  private mutating func quotedString() -> String? {
    guard take(UInt8(ascii: "\"")) else { return nil }
    var value: [UInt8] = []
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      if byte == UInt8(ascii: "\"") { return text(value) }
      if byte == UInt8(ascii: "\\") {
        guard position < bytes.count else { return nil }
        value.append(bytes[position])
        position += 1
      } else {
        value.append(byte)
      }
    }
    return nil
  }

  private func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard position < bytes.count, bytes[position] == byte else { return false }
    position += 1
    return true
  }

  @discardableResult
  private mutating func skip(_ matches: (UInt8) -> Bool) -> Int {
    let start = position
    while position < bytes.count, matches(bytes[position]) { position += 1 }
    return position - start
  }
}

private func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

/// tchar (RFC 9110 §5.6.2), and `+`, which token68 shares with it.
private func isTokenByte(_ byte: UInt8) -> Bool {
  isDigit(byte) || (0x41...0x5A).contains(byte & 0xDF) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
}
