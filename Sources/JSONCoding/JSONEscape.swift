/// How a string is spelled in JSON (RFC 8259 §7): nothing is escaped without need.
package enum JSONEscape {
  /// Whether nothing in `text` needs an escape. Without a branch for each byte: a token may be long.
  @inlinable package static func isPlain(_ text: UnsafeRawBufferPointer) -> Bool {
    var odd: UInt8 = 0
    for byte in text {
      odd |= (byte < 0x20 ? 1 : 0) | (byte == UInt8(ascii: "\"") ? 1 : 0) | (byte == UInt8(ascii: "\\") ? 1 : 0)
    }
    return odd == 0
  }

  /// The bytes that stand for `byte` inside a string.
  @inlinable @inline(__always) package static func escaped(_ byte: UInt8, _ emit: (UInt8) -> Void) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"):
      emit(UInt8(ascii: "\\"))
      emit(byte)
    case 0..<0x20: control(byte, emit)
    default: emit(byte)
    }
  }

  @usableFromInline static func control(_ byte: UInt8, _ emit: (UInt8) -> Void) {
    emit(UInt8(ascii: "\\"))
    switch byte {
    case 0x08: emit(UInt8(ascii: "b"))
    case 0x09: emit(UInt8(ascii: "t"))
    case 0x0A: emit(UInt8(ascii: "n"))
    case 0x0C: emit(UInt8(ascii: "f"))
    case 0x0D: emit(UInt8(ascii: "r"))
    default:
      let low = byte & 0xF
      for digit in [UInt8(ascii: "u"), UInt8(ascii: "0"), UInt8(ascii: "0"), UInt8(ascii: "0") + byte >> 4] {
        emit(digit)
      }
      emit(low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + low - 10)
    }
  }
}
