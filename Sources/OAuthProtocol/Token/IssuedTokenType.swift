import OAuthTerms
import Sealing

/// What a token exchange has asked for, to be compared with what its answer says was issued (RFC 8693 §2.2.1).
struct IssuedTokenType {
  /// `requested_token_type`; nil: the server was to decide.
  private let requested: String?

  /// Nil: `request` exchanges no token.
  init?(of request: HTTPRequest) {
    func text(_ name: String, _ form: FormFields) -> String? { (try? form.only(name))?.text(limit: 2_048) }
    guard let form = request.body.withBytes({ try? FormFields(decoding: $0) }),
      text("grant_type", form) == GrantKind.tokenExchange.terms.type
    else { return nil }
    requested = text("requested_token_type", form)
  }

  /// Whether the issued token is no access token, and was asked for by that type: then its `token_type` may be `N_A`.
  ///
  /// A server that leaves `issued_token_type` out is taken to have issued what was asked for, but for an identity assertion:
  /// that goes on to another server, which is to get no access token. Throws ``TokenAnswerProblem/issuedTokenType(shown:)`` for
  /// another type: a refresh token, say, is nothing for a resource.
  func isOther(_ object: JSONObject, hiding secrets: RequestSecrets) throws(TokenAnswerProblem) -> Bool {
    let plain = [TokenKind.accessToken.uri, TokenKind.jwt.uri]
    let wanted = requested.map { plain.contains($0) ? plain : [$0] } ?? plain
    if let value = object.value("issued_token_type") {
      guard case .string(let secret) = value, let issued = secret.text(limit: 2_048) else {
        throw .issuedTokenType(shown: "not a text")
      }
      guard wanted.contains(issued) else {
        throw .issuedTokenType(shown: Escaped.forTerminal(secrets.cutPieces(from: issued), limit: 120))
      }
    } else if requested == TokenKind.identityAssertionURI {
      throw .issuedTokenType(shown: nil)
    }
    return requested.map { $0 != TokenKind.accessToken.uri } ?? false
  }
}
