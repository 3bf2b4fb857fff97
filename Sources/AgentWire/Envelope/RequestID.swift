/// The `id` of a request: an integer of magnitude below 2^53, or a string of 1 to 64 bytes of UTF-8.
package enum RequestID: Sendable, Hashable {
  case number(Int64)
  case string(String)

  /// The greatest magnitude of a number: what every JSON implementation can tell apart (RFC 8259 §6).
  package static let greatestNumber: Int64 = (1 << 53) - 1
}
