import OAuthTerms
package import Sealing

/// Token exchange (RFC 8693 §2.1): a token is got for another one.
extension TokenRequestGrant {
  /// The tokens are other accounts', and are got for the moment at which it is sent.
  package static var tokenExchange: Self { Self(.tokenExchange, missing: .lentTokens) }

  /// An assertion that the server of another account gives for that one's token: then it is ``with(assertion:)``.
  package static var identityAssertion: Self { Self(.identityAssertion, missing: .lentTokens) }

  /// For the token of `subject`, of `actor` where somebody acts for that one. `requestedType` is the URI of what is to be
  /// issued; nil: the server decides.
  package static func tokenExchange(
    subject: (token: Secret, type: String), actor: (token: Secret, type: String)? = nil, requestedType: String? = nil
  ) -> Self {
    var grant = Self(.tokenExchange)
    grant.parameters.append("subject_token", subject.token)
    grant.parameters.append("subject_token_type", subject.type)
    if let actor {
      grant.parameters.append("actor_token", actor.token)
      grant.parameters.append("actor_token_type", actor.type)
    }
    if let requestedType { grant.parameters.append("requested_token_type", requestedType) }
    return grant
  }
}

extension OAuthError {
  /// Whether the token that was exchanged may be what is wrong: RFC 8693 §2.2.2 says so by `invalid_request`, some servers
  /// by the codes that refuse a grant.
  package var mayMeanLentToken: Bool {
    meaning == .grantRefused || ["invalid_request", "invalid_token"].contains(code)
  }
}
