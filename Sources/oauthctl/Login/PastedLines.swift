import Glibc

/// The lines of standard input while a login waits: each may be the address that a person pastes.
struct PastedLines {
  /// To be polled; -1: nothing more is read.
  private(set) var descriptor: Int32
  /// Nothing has ever come, and nothing will.
  private(set) var isEmpty = false
  private let isTerminal: Bool
  private var hasInput = false
  private var bytes: [UInt8] = []
  private var refusals = 0

  /// Bytes of a line, at most.
  private static let limit = 64 << 10
  /// Lines of a script that are no address, at most: each costs a message.
  private static let refusalLimit = 16

  init(reads: Bool, isTerminal: Bool) {
    descriptor = reads ? STDIN_FILENO : -1
    self.isTerminal = isTerminal
  }

  var isOpen: Bool { descriptor >= 0 }

  /// Reads what is there. Returns the lines that it ends; the last one of a pipe may lack its end.
  mutating func read() -> [String] {
    let some = FileBytes.readSome(from: descriptor, limit: 16 << 10) ?? []
    isEmpty = some.isEmpty && !hasInput
    hasInput = true
    bytes += some
    var lines: [String] = []
    while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
      lines.append(String(decoding: bytes[..<end], as: UTF8.self))
      bytes.removeSubrange(...end)
    }
    if some.isEmpty {
      descriptor = -1
      if !bytes.isEmpty { lines.append(String(decoding: bytes, as: UTF8.self)) }
    } else if bytes.count > Self.limit {
      descriptor = -1
    }
    return lines
  }

  /// A line was no address. A person may try as often as the login lives.
  mutating func refuse() {
    refusals += 1
    if !isTerminal, refusals >= Self.refusalLimit { descriptor = -1 }
  }
}
