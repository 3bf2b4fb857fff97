/// The one spelling of `token.get` that is read and written without a JSON coder: what `oauthctl get-token` and the
/// helpers send for every token, and what the agent answers on its event loop.
///
/// It never says no. A line of another spelling is *not canonical* (nil), and the coders decide. Strings are canonical
/// when they hold 0x20 to 0x7E without `"` and `\`; members stand in the order of `RequestEncoder` and `AnswerLine`.
package enum TokenLine {
  /// A canonical request: no other parameter than these.
  package struct Request: Sendable, Equatable {
    package var id: RequestID
    package var account: String?
    package var url: String?
    /// 0 to 86,400.
    package var minValiditySeconds: Int?

    package init(id: RequestID, account: String? = nil, url: String? = nil, minValiditySeconds: Int? = nil) {
      self.id = id
      self.account = account
      self.url = url
      self.minValiditySeconds = minValiditySeconds
    }
  }

  /// A canonical answer: where its strings stand in the line.
  package struct Answer: Sendable, Equatable {
    package var id: RequestID
    package var accessToken: Range<Int>
    package var account: Range<Int>
    package var accountID: Range<Int>
    /// Unix time.
    package var expiresAt: Int?
    package var expiresInSeconds: Int?
    package var fingerprint: Range<Int>
    package var gitUsername: Range<Int>?
    package var matchedHost: Range<Int>?
    package var tokenType: Range<Int>
  }

  /// Everything of a `TokenAnswer` but the token, whose bytes are lent.
  package struct AnswerFields: Sendable, Equatable {
    package var tokenType: String
    package var expiresAt: Int?
    package var expiresInSeconds: Int?
    package var scope: [String]
    package var account: String
    package var accountID: String
    package var fingerprint: String
    package var matchedHost: String?
    package var gitUsername: String?

    package init(
      tokenType: String, expiresAt: Int?, expiresInSeconds: Int?, scope: [String], account: String, accountID: String,
      fingerprint: String, matchedHost: String? = nil, gitUsername: String? = nil
    ) {
      self.tokenType = tokenType
      self.expiresAt = expiresAt
      self.expiresInSeconds = expiresInSeconds
      self.scope = scope
      self.account = account
      self.accountID = accountID
      self.fingerprint = fingerprint
      self.matchedHost = matchedHost
      self.gitUsername = gitUsername
    }
  }

  /// The greatest `min_validity_s`.
  package static let greatestValiditySeconds = 86_400

  /// Reads a line without its line feed.
  package static func scanRequest(_ bytes: UnsafeRawBufferPointer) -> Request? {
    var reader = TokenLineReader(bytes)
    guard reader.take(#"{"jsonrpc":"2.0","id":"#), let id = reader.identifier(),
      reader.take(#","method":"token.get","params":{"#)
    else { return nil }
    var request = Request(id: id)
    if let account = reader.stringMember(#""account":""#) { request.account = reader.text(account) }
    if let seconds = reader.integerMember(#""min_validity_s":"#) {
      guard (0...greatestValiditySeconds).contains(seconds) else { return nil }
      request.minValiditySeconds = seconds
    }
    if let url = reader.stringMember(#""url":""#) { request.url = reader.text(url) }
    guard reader.endsObject(), reader.take("}"), reader.isAtEnd else { return nil }
    return request
  }

  /// Reads a line without its line feed. A failure is never canonical.
  package static func scanAnswer(_ bytes: UnsafeRawBufferPointer) -> Answer? {
    var reader = TokenLineReader(bytes)
    guard reader.take(#"{"jsonrpc":"2.0","id":"#), let id = reader.identifier(), reader.take(#","result":{"#),
      let accessToken = reader.stringMember(#""access_token":""#), !accessToken.isEmpty,
      let account = reader.stringMember(#""account":""#),
      let accountID = reader.stringMember(#""account_id":""#)
    else { return nil }
    let expiresAt = reader.integerMember(#""expires_at":"#)
    let expiresIn = reader.integerMember(#""expires_in_s":"#)
    guard let fingerprint = reader.stringMember(#""fingerprint":""#) else { return nil }
    let gitUsername = reader.stringMember(#""git_username":""#)
    let matchedHost = reader.stringMember(#""matched_host":""#)
    guard reader.skipStringsMember(#""scope":["#), let tokenType = reader.stringMember(#""token_type":""#),
      reader.endsObject(), reader.take("}"), reader.isAtEnd
    else { return nil }
    return Answer(
      id: id, accessToken: accessToken, account: account, accountID: accountID, expiresAt: expiresAt,
      expiresInSeconds: expiresIn, fingerprint: fingerprint, gitUsername: gitUsername, matchedHost: matchedHost,
      tokenType: tokenType)
  }

  /// The whole line, line feed included.
  package static func printRequest(_ request: Request) -> [UInt8] {
    var writer = TokenLineWriter()
    writer.raw(#"{"jsonrpc":"2.0","id":"#)
    writer.identifier(request.id)
    writer.raw(#","method":"token.get","params":{"#)
    writer.member("account", request.account)
    writer.member("min_validity_s", request.minValiditySeconds)
    writer.member("url", request.url)
    writer.raw("}}\n")
    return writer.bytes
  }

  /// The whole line, line feed included, in one allocation of its size: the one copy of the token to wipe.
  package static func printAnswer(_ id: RequestID, _ fields: AnswerFields, token: UnsafeRawBufferPointer) -> [UInt8] {
    let (head, tail) = around(id, fields)
    let count = head.count + TokenLineWriter.escapedCount(token) + tail.count
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      initialized = write(head, token, tail, into: UnsafeMutableRawBufferPointer(buffer))
    }
  }

  /// Writes the line into memory of the caller. Returns its length, or nil when it does not fit (nothing is written then).
  package static func printAnswer(
    _ id: RequestID, _ fields: AnswerFields, token: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawBufferPointer
  ) -> Int? {
    let (head, tail) = around(id, fields)
    guard head.count + TokenLineWriter.escapedCount(token) + tail.count <= buffer.count else { return nil }
    return write(head, token, tail, into: buffer)
  }

  /// A string as JSON text, spelled as the coders of this protocol spell it.
  static func quoted(_ text: String) -> [UInt8] {
    var writer = TokenLineWriter()
    writer.quoted(text)
    return writer.bytes
  }

  private static func around(_ id: RequestID, _ fields: AnswerFields) -> (head: [UInt8], tail: [UInt8]) {
    var head = TokenLineWriter()
    head.raw(#"{"jsonrpc":"2.0","id":"#)
    head.identifier(id)
    head.raw(#","result":{"access_token":""#)
    var tail = TokenLineWriter()
    tail.raw(#"""#)
    tail.hasMembers = true
    tail.member("account", fields.account)
    tail.member("account_id", fields.accountID)
    tail.member("expires_at", fields.expiresAt)
    tail.member("expires_in_s", fields.expiresInSeconds)
    tail.member("fingerprint", fields.fingerprint)
    tail.member("git_username", fields.gitUsername)
    tail.member("matched_host", fields.matchedHost)
    tail.member("scope", fields.scope)
    tail.member("token_type", fields.tokenType)
    tail.raw("}}\n")
    return (head.bytes, tail.bytes)
  }

  private static func write(
    _ head: [UInt8], _ token: UnsafeRawBufferPointer, _ tail: [UInt8], into buffer: UnsafeMutableRawBufferPointer
  ) -> Int {
    var at = 0
    func copy(_ bytes: UnsafeRawBufferPointer) {
      UnsafeMutableRawBufferPointer(rebasing: buffer[at...]).copyMemory(from: bytes)
      at += bytes.count
    }
    head.withUnsafeBytes(copy)
    if TokenLineWriter.isPlain(token) {
      copy(token)
    } else {
      for byte in token {
        TokenLineWriter.escaped(byte) {
          buffer[at] = $0
          at += 1
        }
      }
    }
    tail.withUnsafeBytes(copy)
    return at
  }
}
