package import HTTPTerms
package import Sealing

/// An authorization request that goes to the server before the browser does (RFC 9126 §2): the client proves itself, and
/// nothing of the request passes through the browser but the name that the server gives it.
package struct PushedAuthorizationRequest: Sendable {
  package var endpoint: WebURL
  package var client: OAuthClient
  package var request: AuthorizationRequest

  package init(endpoint: WebURL, client: OAuthClient, request: AuthorizationRequest) {
    self.endpoint = endpoint
    self.client = client
    self.request = request
  }

  /// Throws as ``AuthorizationRequest/url()``.
  package func httpRequest() throws(ProtocolError) -> HTTPRequest {
    .form(endpoint, client: client, try request.parameters())
  }
}

/// What the server calls a request that was pushed (RFC 9126 §2.2).
package struct PushedAuthorization: Sendable, Equatable {
  /// 1…2048 printable ASCII characters without blanks.
  package let requestURI: String
  /// How long it may be opened: 1…3600 seconds; 60 where the server does not say it in a usable way.
  package let expiresInSeconds: Int

  /// Longest name of a request, bytes: it must fit into the address bar beside the endpoint.
  package static let limitBytes = 2_048
}

package enum PushedAuthorizationVerdict: Sendable {
  case pushed(PushedAuthorization)
  case refused(OAuthError)
  case unusable(EndpointProblem, retryAfterSeconds: Int?)
}

extension PushedAuthorizationVerdict {
  /// What the answer says is freed of the secrets of `request`; `clientSecret` is what no browser may get to see. `now` is
  /// Unix seconds, for a `Retry-After` that is a date.
  package init(judging answer: HTTPAnswer, to request: HTTPRequest, clientSecret: Secret?, now: Int64) {
    do throws(EndpointProblem) {
      switch try EndpointAnswer(answer, hiding: RequestSecrets(of: request)) {
      case .members(let object): self = .pushed(try PushedAuthorization(object, clientSecret: clientSecret))
      case .refused(let error): self = .refused(error)
      }
    } catch {
      self = .unusable(error, retryAfterSeconds: RetryAfter.seconds(in: answer.headers, now: now))
    }
  }
}

extension PushedAuthorization {
  init(_ object: JSONObject, clientSecret: Secret?) throws(EndpointProblem) {
    func refused(_ reason: String) -> EndpointProblem { .member(name: "request_uri", reason: reason) }
    if object.repeated(["request_uri"]) != nil { throw refused("it appears twice") }
    guard let name = object.text("request_uri", limit: Self.limitBytes), !name.isEmpty,
      name.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { throw refused("it is missing, too long or not printable") }
    // It goes into the address bar of a browser, and so into its history.
    guard !RequestSecrets(clientSecret.map { [$0] } ?? []).appear(in: name) else {
      throw refused("it repeats the client secret")
    }
    requestURI = name
    expiresInSeconds = min(TokenLifetime(object.value("expires_in")).knownSeconds ?? 60, 3_600)
  }
}

extension PushedAuthorizationVerdict: CustomStringConvertible {
  /// One sentence for people, without secrets and safe to show.
  package var description: String {
    switch self {
    case .pushed: "The server took the pushed authorization request."
    case .refused(let error): "The server refused the pushed authorization request: \(error)."
    case .unusable(let problem, let wait):
      "The server's answer to the pushed authorization request is of no use: \(problem)"
        + (wait.map { "; it asks to wait \($0) s." } ?? ".")
    }
  }
}
