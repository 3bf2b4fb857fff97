package import Sealing

/// A token endpoint's answer, judged once, in the order in which it is used: first what must be kept, then what it means.
package struct TokenJudgement: Sendable {
  /// The refresh token of any 2xx answer, however bad the rest: to be made durable before ``verdict`` is looked at,
  /// since the server may have rotated and this may be the only living one.
  package let salvagedRefreshToken: Secret?
  /// A 2xx answer brought a refresh token that cannot be kept: the one before it may be used up, and nothing is there in
  /// its place.
  package var hasUnusableRefreshToken = false
  package let verdict: TokenVerdict
  /// The server's clock from its `Date` field, Unix seconds.
  package let serverDateSeconds: Int64?

  /// Whether it says nothing of the grant, and brought nothing in the place of the refresh token that was sent.
  package var decidesNothing: Bool {
    guard salvagedRefreshToken == nil else { return false }
    return switch verdict {
    case .granted: false
    // What is said of the client or of the request leaves the grant as it is.
    case .refused(let error): error.meaning != .grantRefused
    case .refusedWithoutReason, .unusable: true
    }
  }
}

/// What a token endpoint's answer says by RFC 6749 §5, before anybody asks what follows for an account or a login.
package enum TokenVerdict: Sendable {
  case granted(TokenResponse)
  /// Status 200, 400, 401 or 403 with a parsed body and a string `error`: it decides, by ``OAuthError/meaning``
  /// (`grantRefused`, `clientRefused` or `requestRefused`; never `transient`).
  case refused(OAuthError)
  /// Status 400, 401 or 403 without a usable error: repeated over time, a sign of a dead refresh token.
  case refusedWithoutReason(status: Int)
  /// It decides nothing. `retryAfterSeconds` is the server's wish, 0…3600.
  case unusable(TokenAnswerProblem, retryAfterSeconds: Int?)
}

/// Why an answer decides nothing.
package enum TokenAnswerProblem: Error, Sendable, Equatable {
  /// 5xx, 429, or another status that a token endpoint does not use.
  case status(Int)
  /// 3xx; never followed, since the request holds secrets. `location` is escaped.
  case redirect(location: String?)
  /// A web page: a portal, a proxy, a wrong endpoint.
  case html
  case empty
  case tooLarge
  case malformed(String)
  /// `error` beside a token.
  case contradictory
  /// The server says that it will pass: `temporarily_unavailable`, `server_error`, `slow_down`,
  /// `authorization_pending`.
  case transient(OAuthError)
  case duplicateMember(String)
  case accessTokenMissing
  case accessTokenMalformed
  /// Not Bearer; `shown` is escaped.
  case tokenType(shown: String)
  /// Not what a token exchange asked for; `shown` is escaped.
  case issuedTokenType(shown: String?)
  /// Not DPoP, although the request proved a key: whoever sees the token could use it. `shown` is escaped.
  case notBound(shown: String)
}

extension TokenJudgement {
  /// Judges an answer of the token endpoint (RFC 6749 §5). What it says is freed of the secrets of `request`.
  ///
  /// `now` is Unix seconds, for a `Retry-After` that is a date.
  package init(judging answer: HTTPAnswer, to request: HTTPRequest, now: Int64) {
    self.init(answer, to: request, now: now, isCut: false)
  }

  private init(_ answer: HTTPAnswer, to request: HTTPRequest, now: Int64, isCut: Bool) {
    let body = TokenBody(answer)
    salvagedRefreshToken =
      (200..<300).contains(answer.status) ? TokenBody.salvagedRefreshToken(body, of: answer, isCut: isCut) : nil
    hasUnusableRefreshToken =
      (200..<300).contains(answer.status) && salvagedRefreshToken == nil && body.hasUnusableRefreshToken
    serverDateSeconds = answer.dateSeconds
    do throws(TokenAnswerProblem) {
      verdict = try Self.judge(
        answer, body, request.tokenType, salvagedRefreshToken, RequestSecrets(of: request), IssuedTokenType(of: request)
      )
    } catch {
      verdict = .unusable(error, retryAfterSeconds: RetryAfter.seconds(in: answer.headers, now: now))
    }
  }

  /// Judges what came of an answer that has no end. A JSON object that is whole says all that it has to, and of a part of one
  /// the refresh token counts; form data does not show where it was cut. Nil: nothing in it counts.
  package init?(judgingCut answer: HTTPAnswer, to request: HTTPRequest, now: Int64) {
    guard TokenBody.isJSON(answer.body) else { return nil }
    self.init(answer, to: request, now: now, isCut: true)
    if salvagedRefreshToken == nil { guard case .granted = verdict else { return nil } }
  }

  private static func judge(
    _ answer: HTTPAnswer, _ body: TokenBody, _ type: TokenType, _ refreshToken: Secret?, _ secrets: RequestSecrets,
    _ exchange: IssuedTokenType?
  ) throws(TokenAnswerProblem) -> TokenVerdict {
    guard answer.body.count <= HTTPLimits.bodyBytes else { throw .tooLarge }
    switch answer.status {
    case 200, 201:
      let object = try readable(body)
      guard let error = OAuthError(object, hiding: secrets) else {
        // An `error` that is no text, beside a token, means nothing; GitHub and Slack send a text.
        return .granted(
          try TokenResponse(object, as: type, refreshToken: refreshToken, hiding: secrets, exchange))
      }
      if let problem = object.problem { throw .malformed(problem.rawValue) }
      guard refreshToken == nil, object.value("access_token") == nil else { throw .contradictory }
      guard error.meaning != .transient else { throw .transient(error) }
      return .refused(error)
    case 300..<400:
      throw .redirect(location: answer.headers.value("Location").map { Escaped.forTerminal(secrets.cut(from: $0)) })
    case 400, 401, 403:
      if case .html = body { throw .html }
      guard case .object(let object) = body, object.problem == nil, object.repeated(["error"]) == nil,
        let error = OAuthError(object, hiding: secrets)
      else { return .refusedWithoutReason(status: answer.status) }
      guard error.meaning != .transient else { throw .transient(error) }
      // It got a proof, and wants the next one to hold another nonce: nothing is wrong with the grant.
      if type == .dpop, error.code == OAuthError.useNonce { throw .transient(error) }
      return .refused(error)
    default:
      throw .status(answer.status)
    }
  }

  private static func readable(_ body: TokenBody) throws(TokenAnswerProblem) -> JSONObject {
    switch body {
    case .object(let object): return object
    case .html: throw .html
    case .empty: throw .empty
    case .other: throw .malformed(JSONProblem.notAnObject.rawValue)
    }
  }
}
