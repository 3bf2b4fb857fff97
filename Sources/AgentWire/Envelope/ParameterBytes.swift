import Glibc

/// The parameters of a request as they came, for one reading: they may hold a secret, and the request itself lives until
/// its answer does. Used by one task at a time.
final class ParameterBytes: @unchecked Sendable {
  private var bytes: [UInt8]?

  init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

  /// Lends the bytes and wipes them. Throws `internal` the second time.
  func read<Result>(_ body: ([UInt8]) throws(AgentFailure) -> Result) throws(AgentFailure) -> Result {
    defer { wipe() }
    guard let bytes else { throw AgentFailure(.internal, "the parameters were read before") }
    return try body(bytes)
  }

  private func wipe() {
    bytes?.withUnsafeMutableBytes { bytes in
      if let start = bytes.baseAddress { explicit_bzero(start, bytes.count) }
    }
    bytes = nil
  }

  deinit { wipe() }
}
