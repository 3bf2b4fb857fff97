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

  /// Reads a field value: several challenges, quoted strings that hold commas, token68. From the first thing that cannot
  /// be read on, nothing is read.
  package static func parse(_ field: String) -> [Challenge] {
    var reader = ChallengeReader(field.utf8)
    return reader.challenges()
  }
}

/// Whether a 401 says that a newer token would do.
package enum BearerVerdict: Sendable, Equatable {
  /// A Bearer challenge with `invalid_token` (RFC 6750 §3.1), or without an error.
  case refreshMayHelp
  /// Another scheme, or an error that no token of this grant cures (`insufficient_scope`, `invalid_request`).
  case refreshCannotHelp

  /// Judges the challenges of a 401.
  package init(_ challenges: [Challenge]) {
    let errors = challenges.filter { $0.scheme == "bearer" }.map { $0.parameter("error") }
    if errors.contains("invalid_token") {
      self = .refreshMayHelp
    } else if errors.isEmpty || errors.contains(where: { $0 != nil }) {
      self = .refreshCannotHelp
    } else {
      self = .refreshMayHelp
    }
  }
}

private struct ChallengeReader {
  private let bytes: [UInt8]
  private var at = 0

  init(_ text: some Sequence<UInt8>) { bytes = Array(text) }

  mutating func challenges() -> [Challenge] {
    var result: [Challenge] = []
    while true {
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
      if !isWhole { return result }
    }
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
        skip { Self.isToken($0) || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "=") }
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
      guard !name.isEmpty, let value = bytes[at] == UInt8(ascii: "\"") ? quotedString() : token() else { return false }
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
    skip(Self.isToken)
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

  /// tchar of RFC 9110 §5.6.2.
  private static func isToken(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }
}
