package import Sealing

/// Parameters on their way out, `application/x-www-form-urlencoded` (RFC 6749 App. B), in order.
///
/// A blank is written `%20`, not `+`: every decoder of forms and every decoder of URLs reads it the same way.
package struct FormParameters: Sendable {
  private enum Value {
    case text(String)
    case secret(Secret)
  }

  private var fields: [(name: String, value: Value)] = []

  package init() {}

  package mutating func append(_ name: String, _ value: String) { fields.append((name, .text(value))) }
  package mutating func append(_ name: String, _ value: Secret) { fields.append((name, .secret(value))) }

  package mutating func append(_ others: FormParameters) { fields += others.fields }

  /// Names in the order of appending.
  package var names: [String] { fields.map(\.name) }

  /// For a URL. Secrets in it (`state`) become ordinary text.
  package func encodedQuery() -> String { encodedBody().reveal() }

  /// For a request body: built in one buffer that is wiped.
  package func encodedBody() -> Secret {
    // An escaped byte takes three.
    var buffer = WipedBuffer(capacity: fields.reduce(0) { $0 + 3 * ($1.name.utf8.count + Self.count($1.value)) + 2 })
    for (index, field) in fields.enumerated() {
      if index > 0 { buffer.append(UInt8(ascii: "&")) }
      Self.encode(field.name.utf8, into: &buffer)
      buffer.append(UInt8(ascii: "="))
      switch field.value {
      case .text(let text): Self.encode(text.utf8, into: &buffer)
      case .secret(let secret): secret.withBytes { Self.encode($0, into: &buffer) }
      }
    }
    return buffer.secret()
  }

  private static func count(_ value: Value) -> Int {
    switch value {
    case .text(let text): text.utf8.count
    case .secret(let secret): secret.count
    }
  }

  /// Form encoding of a single value, as RFC 6749 §2.3.1 wants it inside Basic credentials.
  static func encode(_ bytes: some Sequence<UInt8>, into buffer: inout WipedBuffer) {
    let hex = Array("0123456789ABCDEF".utf8)
    for byte in bytes {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        buffer.append(byte)
      default:
        buffer.append(UInt8(ascii: "%"))
        buffer.append(hex[Int(byte >> 4)])
        buffer.append(hex[Int(byte & 15)])
      }
    }
  }
}
