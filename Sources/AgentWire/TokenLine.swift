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

  /// A canonical answer: where its strings stand in the line. Numbers alone: destroying anything else would make the
  /// runtime look for its type first.
  package struct Answer: Sendable, Equatable {
    package var id: Int64
    package var accessToken: Range<Int>
    package var account: Range<Int>
    package var accountID: Range<Int>
    package var authorityDigest: Range<Int>?
    package var authorityHost: Range<Int>?
    /// Unix time.
    package var expiresAt: Int?
    package var expiresInSeconds: Int?
    package var fingerprint: Range<Int>
    package var gitUsername: Range<Int>?
    package var matchedHost: Range<Int>?
    package var tokenType: Range<Int>
  }

  /// The greatest `min_validity_s`.
  package static let greatestValiditySeconds = 86_400

  /// Reads a line without its line feed.
  package static func scanRequest(_ bytes: UnsafeRawBufferPointer) -> Request? {
    var reader = TokenLineReader(bytes)
    guard reader.take(#"{"jsonrpc":"2.0","id":"#), let id = reader.identifier(),
      reader.take(#","method":"token.get","params":{"#)
    else { return nil }
    let account = reader.stringMember(#""account":""#)
    let seconds = reader.integerMember(#""min_validity_s":"#)
    let url = reader.stringMember(#""url":""#)
    guard reader.endsObject(), reader.take("}"), reader.isAtEnd,
      seconds.map((0...greatestValiditySeconds).contains) != false
    else { return nil }
    return Request(
      id: .number(id), account: account.map(reader.text), url: url.map(reader.text), minValiditySeconds: seconds)
  }

  /// Reads a line without its line feed. A failure is never canonical.
  package static func scanAnswer(_ bytes: UnsafeRawBufferPointer) -> Answer? {
    var reader = TokenLineReader(bytes)
    guard reader.take(#"{"jsonrpc":"2.0","id":"#), let id = reader.identifier(), reader.take(#","result":{"#),
      let accessToken = reader.stringMember(#""access_token":""#), !accessToken.isEmpty,
      let account = reader.stringMember(#""account":""#),
      let accountID = reader.stringMember(#""account_id":""#)
    else { return nil }
    let authorityDigest = reader.stringMember(#""authority_digest":""#)
    let authorityHost = reader.stringMember(#""authority_host":""#)
    let expiresAt = reader.integerMember(#""expires_at":"#)
    let expiresIn = reader.integerMember(#""expires_in_s":"#)
    guard let fingerprint = reader.stringMember(#""fingerprint":""#) else { return nil }
    let gitUsername = reader.stringMember(#""git_username":""#)
    let matchedHost = reader.stringMember(#""matched_host":""#)
    guard reader.skipStringsMember(#""scope":["#), let tokenType = reader.stringMember(#""token_type":""#),
      reader.endsObject(), reader.take("}"), reader.isAtEnd
    else { return nil }
    return Answer(
      id: id, accessToken: accessToken, account: account, accountID: accountID, authorityDigest: authorityDigest,
      authorityHost: authorityHost, expiresAt: expiresAt, expiresInSeconds: expiresIn, fingerprint: fingerprint,
      gitUsername: gitUsername,
      matchedHost: matchedHost, tokenType: tokenType)
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

  /// A string as JSON text, spelled as the coders of this protocol spell it.
  static func quoted(_ text: String) -> [UInt8] {
    var writer = TokenLineWriter()
    writer.quoted(text)
    return writer.bytes
  }
}
