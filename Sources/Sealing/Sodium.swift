import CSodium

/// libsodium's one-time start. Every operation that needs it asks here first.
enum Sodium {
  /// `sodium_init` picks the implementations for this processor; 1 means that it had been called before.
  private static let started = sodium_init() >= 0

  /// A valid address for buffers of length 0, never read or written: C functions may be declared to want one.
  nonisolated(unsafe) static let nowhere = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)

  static func start() throws(SealingError) {
    guard started else { throw .libraryUnusable }
  }
}

/// Lends contiguous bytes of any collection; copies only what is not contiguous by itself.
func withContiguousBytes<Result>(
  _ bytes: some Collection<UInt8>, _ body: (UnsafeRawBufferPointer) -> Result
) -> Result {
  if let result = bytes.withContiguousStorageIfAvailable({ body(UnsafeRawBufferPointer($0)) }) { return result }
  return Array(bytes).withUnsafeBytes(body)
}

extension UnsafeRawBufferPointer {
  /// The bytes as C's `const unsigned char *`.
  var octets: UnsafePointer<UInt8> {
    baseAddress?.assumingMemoryBound(to: UInt8.self) ?? UnsafePointer(Sodium.nowhere)
  }
}

extension UnsafeMutableRawBufferPointer {
  /// The bytes as C's `unsigned char *`.
  var octets: UnsafeMutablePointer<UInt8> { baseAddress?.assumingMemoryBound(to: UInt8.self) ?? Sodium.nowhere }
}

extension UnsafeMutableBufferPointer<UInt8> {
  /// The bytes as C's `unsigned char *`.
  var octets: UnsafeMutablePointer<UInt8> { baseAddress ?? Sodium.nowhere }
}
