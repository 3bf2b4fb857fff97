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
  /// Unix time; nil when it is missing, 0 or no number (git: never).
  package var passwordExpiry: Int?
  package var capabilities: [String] = []
  /// Values of the server's `WWW-Authenticate` fields, in order.
  package var challenges: [String] = []
  package var states: [String] = []

  package init() {}

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
    var seen: Set<String> = []
    var number = 0
    for line in input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      number += 1
      if line.isEmpty { return }
      guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else { throw .noEquals(line: number) }
      let key = String(decoding: line[..<equals], as: UTF8.self)
      let value = line[(equals + 1)...]
      guard Self.known.contains(key) else { continue }
      let tabAllowed = key == "wwwauth[]"
      guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || tabAllowed && $0 == 0x09 }) else {
        throw .controlCharacter(key: key)
      }
      if !key.hasSuffix("[]"), !seen.insert(key).inserted { throw .repeatedKey(key) }
      set(key, String(decoding: value, as: UTF8.self))
    }
  }

  private static let known: Set<String> = [
    "protocol", "host", "path", "username", "password", "authtype", "credential", "password_expiry_utc",
    "capability[]", "wwwauth[]", "state[]",
  ]

  private mutating func set(_ key: String, _ value: String) {
    switch key {
    case "protocol": self.protocol = value
    case "host": host = value
    case "path": path = value
    case "username": username = value
    case "password": password = value
    case "authtype": authtype = value
    case "credential": credential = value
    case "password_expiry_utc": passwordExpiry = Int(value).flatMap { $0 > 0 ? $0 : nil }
    case "capability[]": Self.append(value, to: &capabilities)
    case "wwwauth[]": Self.append(value, to: &challenges)
    case "state[]": Self.append(value, to: &states)
    default: break
    }
  }

  /// An empty value empties the list.
  private static func append(_ value: String, to list: inout [String]) {
    if value.isEmpty { list.removeAll() } else { list.append(value) }
  }
}
