/// What git writes to a credential helper (git-credential(1), "INPUT/OUTPUT FORMAT").
package struct GitCredentialRequest: Sendable, Equatable {
  /// Longest input that is read, in bytes. git writes lines of up to 65,535 bytes; no honest request comes near.
  package static let limit = 64 << 10

  package var `protocol`: String?
  package var host: String?
  package var path: String?
  package var username: String?
  package var password: String?
  package var authtype: String?
  package var credential: String?
  package var capabilities: [String] = []
  /// Values of the server's `WWW-Authenticate` fields, in order.
  package var challenges: [String] = []
  package var states: [String] = []
  /// As git wrote it.
  private var expiry: String?

  /// Whether git wrote one, be it a number or not.
  package var hasExpiry: Bool { expiry != nil }
  /// Unix time; nil when it is missing, 0 or no number (git: never).
  package var passwordExpiry: Int? { expiry.flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil } }

  /// Whether git and its caller know `authtype`, `credential` and `ephemeral` (git 2.46).
  package var knowsAuthtype: Bool { capabilities.contains("authtype") }
  /// Whether they know `state[]` and `continue` (git 2.46).
  package var knowsState: Bool { capabilities.contains("state") }

  /// Reads an input up to its blank line or end. Unknown keys are passed over.
  ///
  /// Throws where git's own reader and this one could differ: a control character in a value, a line without `=`, a
  /// key of a credential that comes twice, or more than `limit` bytes.
  package init(_ input: [UInt8]) throws(HelperFormatError) {
    guard input.count <= Self.limit else { throw .tooLong(limit: Self.limit) }
    var rest = input[...]
    var number = 0
    while !rest.isEmpty {
      number += 1
      let line = rest.prefix { $0 != UInt8(ascii: "\n") }
      if line.isEmpty { return }
      guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else { throw .noEquals(line: number) }
      try take(String(decoding: line[..<equals], as: UTF8.self), line[(equals + 1)...])
      rest = rest.dropFirst(line.count + 1)
    }
  }

  /// A `switch` and no table: a `Set` would take longer to build than the whole answer (docs/performance.md).
  private mutating func take(_ key: String, _ value: ArraySlice<UInt8>) throws(HelperFormatError) {
    switch key {
    case "protocol": try Self.fill(&self.protocol, key, value)
    case "host": try Self.fill(&host, key, value)
    case "path": try Self.fill(&path, key, value)
    case "username": try Self.fill(&username, key, value)
    case "password": try Self.fill(&password, key, value)
    case "authtype": try Self.fill(&authtype, key, value)
    case "credential": try Self.fill(&credential, key, value)
    case "password_expiry_utc": try Self.fill(&expiry, key, value)
    case "capability[]": Self.add(try Self.text(value, of: key), to: &capabilities)
    case "wwwauth[]": Self.add(try Self.text(value, of: key, tabAllowed: true), to: &challenges)
    case "state[]": Self.add(try Self.text(value, of: key), to: &states)
    default: break
    }
  }

  private static func fill(
    _ field: inout String?, _ key: String, _ value: ArraySlice<UInt8>
  ) throws(HelperFormatError) {
    let text = try text(value, of: key)
    guard field == nil else { throw .repeatedKey(key) }
    field = text
  }

  /// An empty value empties the list.
  private static func add(_ value: String, to list: inout [String]) {
    if value.isEmpty { list.removeAll() } else { list.append(value) }
  }

  private static func text(
    _ value: ArraySlice<UInt8>, of key: String, tabAllowed: Bool = false
  ) throws(HelperFormatError) -> String {
    guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || tabAllowed && $0 == 0x09 }) else {
      throw .controlCharacter(key: key)
    }
    return String(decoding: value, as: UTF8.self)
  }
}
