import Glibc
import Sealing

/// Memory of a fixed size for building a ``Secret``: it never grows, so it leaves no copies, and is wiped at its end.
struct WipedBuffer: ~Copyable {
  private let storage: UnsafeMutableRawBufferPointer
  private(set) var count = 0

  init(capacity: Int) {
    storage = .allocate(byteCount: capacity, alignment: 1)
  }

  /// Appends one byte; false when the buffer is full.
  @discardableResult
  mutating func append(_ byte: UInt8) -> Bool {
    guard count < storage.count else { return false }
    storage[count] = byte
    count += 1
    return true
  }

  mutating func append(contentsOf bytes: some Sequence<UInt8>) {
    for byte in bytes { append(byte) }
  }

  /// What was appended so far, as a secret of exactly that size.
  func secret() -> Secret { Secret(UnsafeRawBufferPointer(rebasing: storage[..<count])) }

  deinit {
    if let start = storage.baseAddress { explicit_bzero(start, storage.count) }
    storage.deallocate()
  }
}

extension Secret {
  /// The bytes as text when they are valid UTF-8 and at most `limit` of them. For values that are not secret after all.
  func text(limit: Int) -> String? {
    guard count <= limit else { return nil }
    return withBytes { String(validating: $0, as: UTF8.self) }
  }

  /// True when every byte lies in `range`.
  func consists(of range: ClosedRange<UInt8>) -> Bool { withBytes { $0.allSatisfy(range.contains) } }
}
