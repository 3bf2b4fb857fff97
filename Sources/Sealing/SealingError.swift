/// Why a sealing operation gave nothing. None of them says anything about the bytes it was given.
package enum SealingError: Error, Equatable, Sendable {
  /// libsodium could not start: it found no usable source of randomness.
  case libraryUnusable
  /// The memory asked for could not be had: guarded pages, or what Argon2id needs.
  case outOfMemory
  /// The seal does not fit these bytes, this associated data and this key.
  case notAuthentic
  /// A key, salt, length or cost parameter is out of its range; the text names which.
  case outOfRange(String)
}
