import Glibc

/// One of the kernel's tables of TCP sockets (proc_pid_net(5)), read row by row within bounds.
struct SocketTable {
  /// How a reading ended.
  enum End: Equatable {
    /// Everything that was wanted was found, or there is no more.
    case read
    case unreadable(Int32)
    /// The table is longer than what is read of it.
    case tooLong

    /// Completes a sentence that begins with the table's path.
    var problem: String? {
      switch self {
      case .read: nil
      case .unreadable(let code): ": \(String(cString: strerror(code)))"
      case .tooLong: " is too long"
      }
    }
  }

  /// The kernel's rows have 150 to 180 bytes.
  static let rowBytes = 512

  let path: String
  /// 32 MiB are some 200,000 sockets.
  var limitBytes = 32 << 20

  /// The first row that begins with each of `keys` (``ConnectionEnds/key``, all of one family) and counts. Lines that are
  /// no such row are passed over.
  func rows(
    _ keys: Set<ArraySlice<UInt8>>, counts: (SocketRow) -> Bool = { _ in true }
  ) -> (rows: [ArraySlice<UInt8>: SocketRow], end: End) {
    var found: [ArraySlice<UInt8>: SocketRow] = [:]
    let keyBytes = keys.first?.count ?? 0
    let end = lines { line in
      // Nearly every line ends here.
      guard let content = SocketRow.content(of: line), keys.contains(content.prefix(keyBytes)),
        let row = SocketRow(content), counts(row)
      else { return true }
      // Not a slice of what is read, which it would keep.
      let key = Array(content.prefix(keyBytes))[...]
      if found[key] == nil { found[key] = row }
      return found.count < keys.count
    }
    return (found, end)
  }

  /// Shows `visit` line after line, as long as it is true.
  private func lines(_ visit: (ArraySlice<UInt8>) -> Bool) -> End {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return .unreadable(errno) }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    // The beginning of a line whose end is not read yet.
    var begun: [UInt8] = []
    var bytes = 0
    while true {
      let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return .unreadable(errno) }
      guard count > 0 else { return .read }
      bytes += count
      guard bytes <= limitBytes else { return .tooLong }
      var rest = buffer[..<count]
      while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        let line = begun.isEmpty ? rest[..<end] : begun[...] + rest[..<end]
        begun.removeAll(keepingCapacity: true)
        rest = rest[(end + 1)...]
        guard visit(line) else { return .read }
      }
      // One byte over the bound is enough to know that it is no row.
      begun += rest.prefix(max(0, Self.rowBytes + 1 - begun.count))
    }
  }
}

/// What a row tells of a socket.
struct SocketRow: Equatable {
  static let established = "01"
  static let listening = "0A"

  /// Two hexadecimal digits.
  let state: String
  let uid: UInt32
  /// 0 when no process has the socket any more; the row's uid is then 0 as well, whoever made it.
  let inode: UInt64

  /// What stands behind the number of a line that may be a row.
  static func content(of line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard line.count <= SocketTable.rowBytes, let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    return line[(colon + 1)...].drop { $0 == UInt8(ascii: " ") }
  }

  /// `LOCAL REMOTE STATE TX:RX TR:WHEN RETRANSMITS UID TIMEOUT INODE …`.
  init?(_ content: ArraySlice<UInt8>) {
    let fields = content.split(separator: UInt8(ascii: " "))
    guard fields.count >= 9, fields[2].count == 2, let uid = Self.decimal(fields[6], as: UInt32.self),
      let inode = Self.decimal(fields[8], as: UInt64.self)
    else { return nil }
    state = String(decoding: fields[2], as: UTF8.self)
    self.uid = uid
    self.inode = inode
  }

  private static func decimal<Number: FixedWidthInteger>(_ text: ArraySlice<UInt8>, as: Number.Type) -> Number? {
    guard text.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return Number(String(decoding: text, as: UTF8.self))
  }
}
