import CSodium
import Synchronization

/// The key under which secrets lie in memory: random, of this process alone, in guarded memory, never written anywhere.
enum ProcessKey {
  private static let byteCount = Int(crypto_stream_chacha20_KEYBYTES)

  /// Never freed. Where guarded memory cannot be had, the key lies in ordinary memory, with no room behind it.
  nonisolated(unsafe) private static let place: (key: UnsafeMutableRawPointer, keystreams: UnsafeMutableRawPointer?) = {
    try? Sodium.start()
    let guarded = sodium_malloc(byteCount + Keystreams.byteCount)
    let key = guarded ?? .allocate(byteCount: byteCount, alignment: 16)
    randombytes_buf(key, byteCount)
    return (key, guarded.map { $0 + byteCount })
  }()

  private static var key: UnsafeMutableRawPointer { place.key }

  /// Room for what ``Keystreams`` keeps, behind the key: in a place of its own it would take three pages more.
  static var keystreams: UnsafeMutableRawPointer? { place.keystreams }

  private static let lastNonce = Atomic<UInt64>(0)

  /// A number that no other secret of this process has.
  static func nextNonce() -> UInt64 { lastNonce.add(1, ordering: .relaxed).newValue }

  /// Enciphers or deciphers `source` (ChaCha20) into `target`, which is as long and may be the same. There is no tag:
  /// who can change our memory needs no forgery.
  static func apply(to target: UnsafeMutableRawBufferPointer, from source: UnsafeRawBufferPointer, nonce: UInt64) {
    withUnsafeBytes(of: nonce) { nonce in
      _ = crypto_stream_chacha20_xor(
        target.octets, source.octets, UInt64(source.count), nonce.octets, key.assumingMemoryBound(to: UInt8.self))
    }
  }

  /// Fills `target` with what `apply` combines a secret of that length with.
  static func writeStream(to target: UnsafeMutableRawBufferPointer, nonce: UInt64) {
    withUnsafeBytes(of: nonce) { nonce in
      _ = crypto_stream_chacha20(
        target.octets, UInt64(target.count), nonce.octets, key.assumingMemoryBound(to: UInt8.self))
    }
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Overwrites the bytes, whatever becomes of the memory.
  func wipe() { sodium_memzero(octets, count) }
}
