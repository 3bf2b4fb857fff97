extension TokenVerdict: CustomStringConvertible {
  /// One sentence for people, without secrets and safe to show.
  package var description: String {
    switch self {
    case .granted: "The server granted a token."
    case .refused(let error):
      switch error.meaning {
      case .grantRefused: "The server refused the grant: \(error)."
      case .clientRefused: "The server refused the client: \(error)."
      case .transient, .requestRefused: "The server refused the request: \(error)."
      }
    case .refusedWithoutReason(let status): "The server refused the request with status \(status) and gave no reason."
    case .unusable(let problem, let wait):
      "The server's answer is of no use: \(problem)" + (wait.map { "; it asks to wait \($0) s." } ?? ".")
    }
  }
}

extension TokenAnswerProblem: CustomStringConvertible {
  package var description: String {
    switch self {
    case .status(429): "it asks for fewer requests (status 429)"
    case .status(let status): "its status is \(status)"
    case .redirect(let location):
      "it is a redirect" + (location.map { " to \"\($0)\"" } ?? "") + ", and token requests are never redirected"
    case .html: "it is a web page, not a token response; the endpoint may be wrong or a portal in between"
    case .empty: "it is empty"
    case .tooLarge: "it is larger than \(HTTPLimits.bodyBytes) bytes"
    case .malformed(let reason): reason
    case .contradictory: "it holds an error and a token"
    case .transient(let error): "it says to try again later: \(error)"
    case .duplicateMember(let name): "it holds \"\(name)\" twice"
    case .accessTokenMissing: "it holds no access_token"
    case .accessTokenMalformed: "its access_token is empty, too long or holds characters that no header may carry"
    case .tokenType(let shown): "its token_type is \"\(shown)\", and only Bearer is supported"
    case .issuedTokenType(nil): "it does not say that it is an identity assertion (issued_token_type)"
    case .issuedTokenType(let shown?): "its issued_token_type is \"\(shown)\", which was not asked for"
    case .notBound(let shown):
      "its token_type is \(shown), although the request proved the key it is to be bound to (DPoP)"
    }
  }
}
