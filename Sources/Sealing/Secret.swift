/// Bytes that must never be printed: tokens, client secrets, request and answer bodies.
///
/// A shared, immutable value that lies enciphered in memory, under a key of this process in guarded memory, for as long
/// as nobody looks at it: neither swap nor a stray copy of the block tells anything. Printing, logging or mirroring it
/// shows `<secret>`. Equality takes the same time wherever the first difference lies.
package final class Secret: Sendable {
  /// Enciphered from the end of `init` on.
  nonisolated(unsafe) let storage: UnsafeMutableRawBufferPointer
  private let nonce: UInt64

  package convenience init(_ bytes: some Collection<UInt8>) {
    self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
  }

  package convenience init(_ string: String) { self.init(string.utf8) }

  /// `count` bytes (0 or more) written in place by `fill`, so that no other copy is made. Wiped when `fill` throws.
  package init<Failure: Error>(
    count: Int, fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) {
    storage = .allocate(byteCount: max(count, 0), alignment: 1)
    storage.initializeMemory(as: UInt8.self, repeating: 0)
    nonce = ProcessKey.nextNonce()
    // A throw here leaves a fully initialised object: its deinit wipes and frees.
    try fill(storage)
    ProcessKey.apply(to: storage, from: UnsafeRawBufferPointer(storage), nonce: nonce)
  }

  /// Number of bytes.
  package var count: Int { storage.count }
  package var isEmpty: Bool { storage.isEmpty }

  /// Lends the bytes, deciphered for the length of `body` and wiped behind it.
  package func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let open = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
    defer {
      open.wipe()
      open.deallocate()
    }
    ProcessKey.apply(to: open, from: UnsafeRawBufferPointer(storage), nonce: nonce)
    return try body(UnsafeRawBufferPointer(open))
  }

  /// Deciphers the bytes into `target`, which has room for them and is the caller's to wipe. Cheap when repeated.
  package func write(to target: UnsafeMutableRawBufferPointer) {
    Keystreams.apply(
      to: UnsafeMutableRawBufferPointer(rebasing: target[..<count]), from: UnsafeRawBufferPointer(storage), nonce: nonce
    )
  }

  /// A copy as text, for the last step before a wire or a form. Nothing wipes it.
  package func reveal() -> String { withBytes { String(decoding: $0, as: UTF8.self) } }

  deinit {
    storage.wipe()
    storage.deallocate()
  }
}

extension Secret: Equatable {
  package static func == (left: Secret, right: Secret) -> Bool {
    left.withBytes { left in right.withBytes { right in constantTimeEquals(left, right) } }
  }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "<secret>" }
  package var debugDescription: String { "<secret>" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Compares in a time that depends on the lengths alone. Inlinable, since other modules would call it unspecialized, at
/// 3,000 instructions a byte.
@inlinable package func constantTimeEquals(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
  guard left.count == right.count else { return false }
  var difference: UInt8 = 0
  for (l, r) in zip(left, right) { difference |= l ^ r }
  return difference == 0
}
