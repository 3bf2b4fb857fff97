package import HTTPTerms
package import Sealing

/// Token revocation (RFC 7009).
package struct RevocationRequest: Sendable {
  /// `token_type_hint`
  package enum Hint: String, Sendable, Codable {
    case refreshToken = "refresh_token"
    case accessToken = "access_token"
  }

  package var endpoint: WebURL
  package var client: OAuthClient
  package var token: Secret
  package var hint: Hint

  package init(endpoint: WebURL, client: OAuthClient, token: Secret, hint: Hint) {
    self.endpoint = endpoint
    self.client = client
    self.token = token
    self.hint = hint
  }

  package func httpRequest() -> HTTPRequest {
    var form = FormParameters()
    form.append("token", token)
    form.append("token_type_hint", hint.rawValue)
    return .form(endpoint, client: client, form)
  }
}

package enum RevocationVerdict: Sendable, Equatable {
  /// Revoked, or not known to the server, which is the same (RFC 7009 §2.2).
  case done
  /// Keep it and try again; `retryAfterSeconds` is the server's wish, 0…3600.
  case later(status: Int, retryAfterSeconds: Int?)
  /// `unsupported_token_type`: the server does not revoke tokens of this kind.
  case unsupportedTokenType
  case refused(OAuthError)
  /// Any other status, or a refusal without a reason.
  case refusedWithoutReason(status: Int)

  /// What the answer says is freed of the secrets of `request`. `now` is Unix seconds, for a `Retry-After` that is a date.
  package init(judging answer: HTTPAnswer, to request: HTTPRequest, now: Int64) {
    switch answer.status {
    case 200..<300: self = .done
    case 408, 429, 500...:
      self = .later(status: answer.status, retryAfterSeconds: RetryAfter.seconds(in: answer.headers, now: now))
    case 400, 401, 403:
      guard case .object(let object) = TokenBody(answer), object.problem == nil,
        let error = OAuthError(object, hiding: RequestSecrets(of: request))
      else {
        self = .refusedWithoutReason(status: answer.status)
        return
      }
      switch (error.code, error.meaning) {
      case ("unsupported_token_type", _): self = .unsupportedTokenType
      // Google's answer for a token that is already dead.
      case ("invalid_token", _): self = .done
      case (_, .transient):
        self = .later(status: answer.status, retryAfterSeconds: RetryAfter.seconds(in: answer.headers, now: now))
      default: self = .refused(error)
      }
    default: self = .refusedWithoutReason(status: answer.status)
    }
  }
}

extension RevocationVerdict: CustomStringConvertible {
  /// One sentence for people, without secrets and safe to show.
  package var description: String {
    switch self {
    case .done: "The server revoked the token."
    case .later(let status, let wait):
      "The server cannot revoke now (status \(status))" + (wait.map { "; it asks to wait \($0) s." } ?? ".")
    case .unsupportedTokenType: "The server does not revoke tokens of this kind."
    case .refused(let error): "The server refused to revoke the token: \(error)."
    case .refusedWithoutReason(let status): "The server refused to revoke the token with status \(status)."
    }
  }
}
