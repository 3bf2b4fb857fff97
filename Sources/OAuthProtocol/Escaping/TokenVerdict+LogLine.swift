// What a log keeps of an answer: what was decided, and the server's error code. Its other words are for the person who
// asked, at the moment of asking; a log is read by others, and later.

extension TokenVerdict {
  /// One line for a log.
  package var logLine: String {
    switch self {
    case .granted: "a token was granted"
    case .refused(let error): "refused: \(error.code)"
    case .refusedWithoutReason(let status): "refused with status \(status) and no reason"
    case .unusable(let problem, _): "the answer is of no use: \(problem.logLine)"
    }
  }
}

extension TokenAnswerProblem {
  var logLine: String {
    switch self {
    case .redirect: "it is a redirect"
    case .transient(let error): "it says to try again later: \(error.code)"
    case .tokenType: "its token_type is not Bearer"
    case .issuedTokenType: "its issued_token_type was not asked for"
    case .notBound: "its token_type is not DPoP"
    case .status, .html, .empty, .tooLarge, .malformed, .contradictory, .duplicateMember, .accessTokenMissing,
      .accessTokenMalformed:
      description
    }
  }
}

extension DeviceStop {
  /// One line for a log.
  package var logLine: String {
    switch self {
    case .denied(let error): "denied: \(error.code)"
    case .refused(let error): "refused: \(error.code)"
    case .unusable: "the answer is of no use"
    case .expired, .unknownCode, .refusedWithoutReason: description
    }
  }
}

extension AuthorizationVerdict {
  /// One line for a log.
  package var logLine: String {
    switch self {
    case .denied(let error): "denied: \(error.code)"
    case .refused(.duplicateParameter): "refused: a parameter appears twice"
    case .refused(.issuerMismatch): "refused: it comes from another server"
    case .refused(let refusal): "refused: \(refusal.description)"
    case .ignore, .code: description
    }
  }
}
