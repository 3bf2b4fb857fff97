/// Why bytes from the other end of the pipe, or a request to be sent there, were refused.
package enum FetchWireError: Error, Equatable {
  /// A frame kind that does not exist, or not at this place.
  case unexpectedFrame(UInt8)
  /// A length above the limit of its frame.
  case frameTooLarge
  /// A frame that ends early, has bytes left over, or holds a value outside its range. Names the value.
  case invalid(String)
  /// The request was written by another version.
  case versionMismatch(UInt8)
}
