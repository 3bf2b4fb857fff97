import Glibc

/// A line as it is typed, erasures and all. The kernel edits lines as well, and drops what is beyond 4,095 bytes of one without a
/// word: of a long secret that is pasted the beginning would be left, and look whole.
struct TypedLine {
  /// The keys that edit, as stty(1) sets them; 0 where one is no key (_POSIX_VDISABLE).
  struct Keys {
    var erase: UInt8 = 0x7F
    var kill: UInt8 = 0x15
    var eraseWord: UInt8 = 0x17
    var end: UInt8 = 0x04
    var literal: UInt8 = 0x16
    /// Whether a character may have more bytes than one (IUTF8).
    var isUTF8 = true

    init() {}

    init(_ modes: termios) {
      isUTF8 = modes.c_iflag & tcflag_t(IUTF8) != 0
      // VERASE, VKILL, VWERASE, VEOF and VLNEXT, which Glibc gives as numbers and Swift as members of a tuple.
      (erase, kill, eraseWord, end, literal) = (
        modes.c_cc.2, modes.c_cc.3, modes.c_cc.14, modes.c_cc.4, modes.c_cc.15
      )
    }
  }

  private let keys: Keys
  private(set) var bytes: [UInt8] = []
  /// The next byte is taken as it is.
  private var isLiteral = false

  init(_ keys: Keys) { self.keys = keys }

  /// What a byte does to the line.
  enum Effect: Equatable {
    case goesOn
    case ended
    /// The end of input, and nothing was typed.
    case nothing
  }

  mutating func take(_ byte: UInt8) -> Effect {
    if isLiteral {
      isLiteral = false
      bytes.append(byte)
      return .goesOn
    }
    switch byte {
    case UInt8(ascii: "\n"), UInt8(ascii: "\r"): return .ended
    case 0: bytes.append(byte)
    case keys.end: return bytes.isEmpty ? .nothing : .ended
    // Most terminals send one of these two, whatever is set.
    case keys.erase, 0x7F, 0x08: eraseCharacter()
    case keys.kill: bytes.removeAll()
    case keys.eraseWord:
      while let last = bytes.last, !Self.isOfWord(last) { bytes.removeLast() }
      while let last = bytes.last, Self.isOfWord(last) { bytes.removeLast() }
    case keys.literal: isLiteral = true
    default: bytes.append(byte)
    }
    return .goesOn
  }

  /// A letter, a digit or `_`, as the kernel counts; of UTF-8 all bytes beyond ASCII are, so that no character is torn.
  private static func isOfWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...0xFF:
      true
    default: false
    }
  }

  /// With the bytes of UTF-8 that continue it.
  private mutating func eraseCharacter() {
    while let last = bytes.popLast(), keys.isUTF8, last & 0xC0 == 0x80 {}
  }
}
