import Glibc
import NIOCore

/// Wiping of the buffers that requests and answers pass through. Nobody else may still need the bytes: a buffer's
/// storage is shared by its copies, and it is the storage that is wiped.
enum WipedBuffers {
  /// Moves an answer into a buffer of its own; `bytes` is wiped.
  static func take(_ bytes: inout [UInt8], allocator: ByteBufferAllocator = ByteBufferAllocator()) -> ByteBuffer {
    var buffer = allocator.buffer(capacity: bytes.count)
    buffer.writeBytes(bytes)
    wipe(&bytes)
    return buffer
  }

  static func wipe(_ bytes: inout [UInt8]) {
    bytes.withUnsafeMutableBytes { pointer in
      if let start = pointer.baseAddress { explicit_bzero(start, pointer.count) }
    }
  }

  /// Wipes the readable bytes where they lie. A mutating access would copy shared storage and wipe the copy.
  static func wipeReadable(_ buffer: ByteBuffer) {
    buffer.withUnsafeReadableBytes { pointer in
      guard let start = pointer.baseAddress else { return }
      explicit_bzero(UnsafeMutableRawPointer(mutating: start), pointer.count)
    }
  }
}
