package import Sealing

/// Parameters on their way in: decoded `application/x-www-form-urlencoded` data, values kept as secrets.
package struct FormFields: Sendable {
  private var fields: [(name: String, value: Secret)] = []

  /// Names and values in their order, repeated ones repeated.
  package var members: [(name: String, value: Secret)] { fields }

  /// `+` and `%20` are blanks. Empty pieces (`a=1&&b=2`) are skipped.
  ///
  /// Throws ``ProtocolError/malformedForm(_:)`` for more than `limit` parameters, a broken escape, a name that is not
  /// UTF-8, or a byte outside printable ASCII.
  package init(decoding bytes: some Collection<UInt8>, limit: Int = 64) throws(ProtocolError) {
    for piece in bytes.split(separator: UInt8(ascii: "&")) {
      guard fields.count < limit else { throw .malformedForm("more than \(limit) parameters") }
      let equals = piece.firstIndex(of: UInt8(ascii: "=")) ?? piece.endIndex
      guard let name = try Self.decode(piece[..<equals]).text(limit: 256) else {
        throw .malformedForm("a parameter name is too long or not UTF-8")
      }
      fields.append((name, try Self.decode(piece[equals...].dropFirst())))
    }
  }

  /// Names in their order, repeated ones repeated.
  package var names: [String] { fields.map(\.name) }

  package func contains(_ name: String) -> Bool { fields.contains { $0.name == name } }

  package func all(_ name: String) -> [Secret] { fields.filter { $0.name == name }.map(\.value) }

  /// The value of a parameter that may appear once, or nil.
  ///
  /// Throws ``ProtocolError/duplicateParameter(_:)``.
  package func only(_ name: String) throws(ProtocolError) -> Secret? {
    let values = all(name)
    guard values.count <= 1 else { throw .duplicateParameter(Escaped.forTerminal(name, limit: 64)) }
    return values.first
  }

  private static func decode(_ bytes: some Collection<UInt8>) throws(ProtocolError) -> Secret {
    var buffer = WipedBuffer(capacity: bytes.count)
    var rest = bytes.makeIterator()
    while let byte = rest.next() {
      switch byte {
      case UInt8(ascii: "+"):
        buffer.append(UInt8(ascii: " "))
      case UInt8(ascii: "%"):
        guard let high = rest.next().flatMap(hexValue), let low = rest.next().flatMap(hexValue) else {
          throw .malformedForm("a % is not followed by two hexadecimal digits")
        }
        buffer.append(high << 4 | low)
      case 0x21...0x7E:
        buffer.append(byte)
      default:
        throw .malformedForm("it holds a blank, a control character or a non-ASCII byte")
      }
    }
    return buffer.secret()
  }
}

private func hexValue(_ byte: UInt8) -> UInt8? {
  switch byte {
  case 0x30...0x39: byte - 0x30
  case 0x41...0x46: byte - 0x41 + 10
  case 0x61...0x66: byte - 0x61 + 10
  default: nil
  }
}
