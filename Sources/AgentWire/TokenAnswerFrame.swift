import JSONCoding

/// What all answers to `token.get` with one token have in common, printed once: an answer then costs a few copies.
///
/// It does not hold the token, which stays where it is wiped, and goes from there into the buffer that is sent.
package struct TokenAnswerFrame: Sendable, Equatable {
  /// What stands behind the token: before the times, between them and the host, and after that.
  private let beforeTimes: [UInt8]
  private let beforeHost: [UInt8]
  private let afterHost: [UInt8]

  /// Bytes of everything else but the token and the host, at most.
  private static let greatestRest = 180

  /// Everything of a ``TokenAnswer`` except the token, its times and the host.
  package init(
    tokenType: String, scope: [String], account: String, accountID: String, authorityDigest: String? = nil,
    authorityHost: String? = nil, fingerprint: String, gitUsername: String? = nil
  ) {
    var before = TokenLineWriter(insideObject: true)
    before.raw("\"")
    before.member("account", account)
    before.member("account_id", accountID)
    before.member("authority_digest", authorityDigest)
    before.member("authority_host", authorityHost)
    var between = TokenLineWriter(insideObject: true)
    between.member("fingerprint", fingerprint)
    between.member("git_username", gitUsername)
    var after = TokenLineWriter(insideObject: true)
    after.member("scope", scope)
    after.member("token_type", tokenType)
    after.raw("}}\n")
    beforeTimes = before.bytes
    beforeHost = between.bytes
    afterHost = after.bytes
  }

  /// Whether a token stands in a line as it is. One that does not is the coders' business.
  package static func canCarry(_ token: UnsafeRawBufferPointer) -> Bool { JSONEscape.isPlain(token) }

  /// Bytes that `write` wants for a token of `tokenCount` bytes.
  package func capacity(tokenCount: Int, _ matchedHost: String?) -> Int {
    tokenCount + beforeTimes.count + beforeHost.count + afterHost.count + Self.greatestRest
      + (matchedHost?.utf8.count ?? 0)
  }

  /// Writes the whole line, line feed included, into `buffer`, which has the capacity. `token` writes the token's bytes.
  /// `expiresAt` is Unix time. `matchedHost` is an origin: nothing in it needs an escape. Returns the length of the line.
  package func write(
    _ id: Int64, expiresAt: Int?, expiresInSeconds: Int?, _ matchedHost: String?, tokenCount: Int,
    into buffer: UnsafeMutableRawBufferPointer, token: (UnsafeMutableRawBufferPointer) -> Void
  ) -> Int {
    precondition(buffer.count >= capacity(tokenCount: tokenCount, matchedHost), "a line needs its capacity")
    var line = FilledLine(buffer)
    line.copy(#"{"jsonrpc":"2.0","id":"#)
    line.decimal(id)
    line.copy(#","result":{"access_token":""#)
    line.fill(tokenCount, token)
    beforeTimes.withUnsafeBytes { line.copy($0) }
    if let expiresAt {
      line.copy(#","expires_at":"#)
      line.decimal(Int64(expiresAt))
    }
    if let expiresInSeconds {
      line.copy(#","expires_in_s":"#)
      line.decimal(Int64(expiresInSeconds))
    }
    beforeHost.withUnsafeBytes { line.copy($0) }
    if var matchedHost {
      line.copy(#","matched_host":""#)
      matchedHost.withUTF8 { line.copy(UnsafeRawBufferPointer($0)) }
      line.copy("\"")
    }
    afterHost.withUnsafeBytes { line.copy($0) }
    return line.count
  }
}

/// Memory that is filled from its start. Its owner has seen to it that all fits.
private struct FilledLine {
  /// Digits of the longest Int64, and its sign.
  private static let greatestDigits = 20
  private var buffer: UnsafeMutableRawBufferPointer
  private(set) var count = 0

  init(_ buffer: UnsafeMutableRawBufferPointer) { self.buffer = buffer }

  mutating func copy(_ text: StaticString) {
    copy(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  mutating func copy(_ bytes: UnsafeRawBufferPointer) {
    fill(bytes.count) { $0.copyMemory(from: bytes) }
  }

  mutating func fill(_ length: Int, _ write: (UnsafeMutableRawBufferPointer) -> Void) {
    write(UnsafeMutableRawBufferPointer(rebasing: buffer[count..<count + length]))
    count += length
  }

  mutating func decimal(_ number: Int64) {
    if number < 0 { copy("-") }
    // From its last digit on, behind the longest that could be, then moved to its place.
    let end = count + Self.greatestDigits
    var (first, rest) = (end, number.magnitude)
    repeat {
      first -= 1
      buffer[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    } while rest > 0
    copy(UnsafeRawBufferPointer(rebasing: buffer[first..<end]))
  }
}
