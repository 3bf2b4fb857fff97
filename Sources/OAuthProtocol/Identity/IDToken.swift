package import Sealing

/// An ID token (OpenID Connect Core 1.0 §2) as its claims say it, before anything of it is believed.
///
/// Its signature is not looked at: it comes straight from the token endpoint, whose certificate stands for it (§3.1.3.7,
/// rule 6).
package struct IDToken: Sendable {
  /// Longest one that is read and kept: 16 KiB. Those of real servers have 1 to 4 KiB.
  package static let limitBytes = 16 << 10
  /// `sub` has 255 characters of ASCII at most (§2).
  private static let subjectBytes = 255
  /// Longest other text that is read: no name, address or nonce comes near it.
  private static let textBytes = 1_024
  /// Most parties that one token is for; real ones name one to three.
  private static let audienceLimit = 64
  /// The end of the year 9999, in Unix seconds.
  private static let lastSecond = 253_402_300_799.0

  /// As it came.
  package let token: Secret
  /// `alg` of its header: a signature, never `none`.
  let algorithm: String
  package let issuer: String
  package let subject: String
  /// Each once.
  let audience: Set<String>
  /// `azp`: whom it was given to.
  let authorizedParty: String?
  /// Unix seconds.
  package let expires: Int64
  let issuedAt: Int64
  let nonce: String?
  /// `auth_time`: when its person proved who they are, Unix seconds.
  let authenticatedAt: Int64?
  /// `at_hash`
  let accessTokenHash: String?
  let preferredUsername: String?
  let email: String?
  /// False: the server says that nobody has looked whether the address is theirs.
  let isEmailVerified: Bool
  let name: String?

  package init(_ token: Secret) throws(IDTokenProblem) {
    guard token.count <= Self.limitBytes else { throw .tooLarge }
    guard let text = token.text(limit: Self.limitBytes) else { throw .malformed("it is no text") }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    // RFC 7516 §7.1: five parts are those of an encrypted one.
    if parts.count == 5 { throw .encrypted }
    guard parts.count == 3 else { throw .malformed("it has not three parts") }
    let header = try Self.object(parts[0])
    // RFC 7515 §4.1.11: whoever does not understand what is critical refuses it.
    guard header.value("crit") == nil else { throw .malformed("its header asks for an extension") }
    guard let algorithm = header.text("alg", limit: 64), algorithm.lowercased() != "none", !parts[2].isEmpty else {
      throw .unsigned
    }
    let claims = try Self.object(parts[1])
    self.token = token
    self.algorithm = algorithm
    issuer = try Self.required("iss", claims.text("iss", limit: 2_048))
    let subject = try Self.required("sub", claims.text("sub", limit: Self.subjectBytes))
    guard !subject.isEmpty else { throw .malformed("its sub is empty") }
    self.subject = subject
    audience = try Self.audience(claims.value("aud"))
    authorizedParty = try Self.optional("azp", claims)
    expires = try Self.required("exp", try Self.seconds("exp", claims))
    issuedAt = try Self.required("iat", try Self.seconds("iat", claims))
    nonce = try Self.optional("nonce", claims)
    authenticatedAt = try Self.seconds("auth_time", claims)
    accessTokenHash = try Self.optional("at_hash", claims)
    preferredUsername = claims.text("preferred_username", limit: Self.textBytes)
    email = claims.text("email", limit: Self.textBytes)
    // A few servers write it as text, and many leave it out.
    switch claims.value("email_verified") {
    case .bool(let isVerified): isEmailVerified = isVerified
    case .string(let text): isEmailVerified = text.text(limit: 8)?.lowercased() == "true"
    case nil, .null: isEmailVerified = true
    case .number, .array, .object: isEmailVerified = false
    }
    name = claims.text("name", limit: Self.textBytes)
  }

  /// The JSON object of one part. One that holds a name twice is refused: readers differ in which they take (RFC 7519 §4).
  private static func object(_ part: Substring) throws(IDTokenProblem) -> JSONObject {
    guard let bytes = Base64URL.decode(String(part)) else { throw .malformed("it is not in base64url") }
    let object = JSONObject(reading: Secret(bytes))
    if let problem = object.problem { throw .malformed(problem.rawValue) }
    guard Set(object.members.map(\.name)).count == object.members.count else {
      throw .malformed("it holds a name twice")
    }
    return object
  }

  private static func required<Value>(_ name: String, _ value: Value?) throws(IDTokenProblem) -> Value {
    guard let value else { throw .malformed("it has no \(name) that can be read") }
    return value
  }

  /// A text that may be missing, and that decides where it is there.
  private static func optional(_ name: String, _ claims: JSONObject) throws(IDTokenProblem) -> String? {
    guard claims.value(name) != nil else { return nil }
    return try required(name, claims.text(name, limit: textBytes))
  }

  /// A NumericDate (RFC 7519 §2), which may have a fraction.
  private static func seconds(_ name: String, _ claims: JSONObject) throws(IDTokenProblem) -> Int64? {
    switch claims.value(name) {
    case nil: return nil
    case .number(let text):
      guard let number = Double(text), number >= 0, number <= lastSecond else {
        throw .malformed("its \(name) is no time")
      }
      return Int64(number)
    case .null, .bool, .string, .array, .object: throw .malformed("its \(name) is no number")
    }
  }

  private static func audience(_ value: JSONValue?) throws(IDTokenProblem) -> Set<String> {
    func text(_ value: JSONValue) -> String? {
      if case .string(let one) = value { one.text(limit: textBytes) } else { nil }
    }
    switch value {
    case .array(let several) where (1...audienceLimit).contains(several.count):
      let texts = several.compactMap(text)
      guard texts.count == several.count else { break }
      return Set(texts)
    case let one?:
      if let text = text(one) { return [text] }
    case nil: break
    }
    throw .malformed("it has no aud that can be read")
  }
}
