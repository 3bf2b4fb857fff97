/// Appends the vault format's numbers: unsigned, little endian.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  mutating func integer<Integer: FixedWidthInteger & UnsignedInteger>(_ value: Integer) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func raw(_ more: some Collection<UInt8>) { bytes.append(contentsOf: more) }

  /// Zeros up to the next multiple of `step`.
  mutating func pad(to step: Int) {
    bytes.append(contentsOf: repeatElement(0, count: paddingCount(after: bytes.count, step: step)))
  }
}

/// Reads them back. Nil once there are too few bytes left.
struct ByteReader {
  private let bytes: UnsafeRawBufferPointer
  private(set) var offset = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  mutating func integer<Integer: FixedWidthInteger & UnsignedInteger>(_: Integer.Type) -> Integer? {
    guard let raw = raw(MemoryLayout<Integer>.size) else { return nil }
    return Integer(littleEndian: raw.loadUnaligned(as: Integer.self))
  }

  /// The next `count` bytes, lent.
  mutating func raw(_ count: Int) -> UnsafeRawBufferPointer? {
    guard count >= 0, bytes.count - offset >= count else { return nil }
    defer { offset += count }
    return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
  }

  /// Whether the rest is what `pad(to:)` wrote.
  func restIsPadding(to step: Int) -> Bool {
    bytes.count - offset == paddingCount(after: offset, step: step) && bytes[offset...].allSatisfy { $0 == 0 }
  }
}

private func paddingCount(after count: Int, step: Int) -> Int { (step - count % step) % step }
