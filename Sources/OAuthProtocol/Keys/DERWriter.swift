import Sealing

/// The few values of DER (X.690) of which private keys are made, in wiped memory.
struct DERWriter {
  /// In order.
  private let parts: [Secret]

  private init(_ parts: [Secret]) { self.parts = parts }

  private var count: Int { parts.reduce(0) { $0 + $1.count } }

  var secret: Secret {
    var buffer = WipedBuffer(capacity: count)
    for part in parts { part.withBytes { buffer.append(contentsOf: $0) } }
    return buffer.secret()
  }

  private static func tagged(_ tag: UInt8, _ content: [Secret]) -> DERWriter {
    let length = content.reduce(0) { $0 + $1.count }
    var head: [UInt8] = [tag]
    if length < 0x80 {
      head.append(UInt8(length))
    } else if length < 0x100 {
      head += [0x81, UInt8(length)]
    } else {
      // Keys are read up to 8 KiB: two bytes are enough.
      head += [0x82, UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length)]
    }
    return DERWriter([Secret(head)] + content)
  }

  static func sequence(_ values: [DERWriter]) -> DERWriter { tagged(0x30, values.flatMap(\.parts)) }

  /// A number that is not negative, given with its highest byte first.
  static func integer(_ number: Secret) -> DERWriter {
    let plain = number.withBytes { bytes in
      let digits = bytes.drop { $0 == 0 }
      // The highest bit is a sign.
      guard let first = digits.first, first < 0x80 else { return Secret([0] + Array(digits)) }
      return Secret(Array(digits))
    }
    return tagged(0x02, [plain])
  }

  static func octets(_ bytes: Secret) -> DERWriter { tagged(0x04, [bytes]) }

  static func bits(_ bytes: Secret) -> DERWriter { tagged(0x03, [Secret([0]), bytes]) }

  static func explicit(_ number: UInt8, _ value: DERWriter) -> DERWriter { tagged(0xA0 | number, value.parts) }

  /// Encoded already.
  static func encoded(_ bytes: [UInt8]) -> DERWriter { DERWriter([Secret(bytes)]) }
}
