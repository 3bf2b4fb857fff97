import OAuthProtocol
import Sealing

/// What the access tokens are for (RFC 6750).
extension DevAuthorizationServer {
  mutating func userinfo(_ request: DevRequest, at now: Double) -> DevResponse {
    switch bearer(request, requiring: "openid", at: now) {
    case .failure(let refused): refused.response
    case .success(let caller): .json(.object([("sub", .string(caller.subject))]))
    }
  }

  /// `/api/hello` for any good token, `/api/scope/NAME` for one with the scope NAME. Every method and body is taken;
  /// the answer tells the body's length and digest, so that a repeated request can be compared.
  mutating func resource(_ name: String, _ request: DevRequest, at now: Double) -> DevResponse {
    var required: String?
    if name.hasPrefix("scope/") {
      required = String(name.dropFirst(6))
      guard options.scopes.contains(required ?? "") else { return .text(404, "no such scope") }
    } else if name != "hello" {
      return .text(404, "no such resource")
    }
    switch bearer(request, requiring: required, at: now) {
    case .failure(let refused): return refused.response
    case .success(let caller):
      return .json(
        .object([
          ("hello", .string(caller.subject)), ("client_id", .string(caller.clientID)),
          ("scope", .string(caller.scope.joined(separator: " "))), ("method", .string(request.method)),
          ("body_bytes", .number(request.body.count)),
          ("body_sha256", .string(Hex.encode(Digest.sha256(request.body)))),
        ]))
    }
  }

  struct Caller {
    var subject: String
    var clientID: String
    var scope: [String]
  }

  struct BearerRefusal: Error {
    var response: DevResponse
  }

  private func bearer(
    _ request: DevRequest, requiring scope: String?, at now: Double
  ) -> Result<Caller, BearerRefusal> {
    let fields = request.headers.values("Authorization")
    let inQuery = FormText.decode(Array(request.query.utf8))?.contains { $0.0 == "access_token" } ?? false
    guard fields.count <= 1, !inQuery else {
      return refuse(400, "invalid_request", "send the token once, in the Authorization field")
    }
    guard let field = fields.first else { return refuse(401) }
    let parts = field.split(separator: " ", omittingEmptySubsequences: true)
    guard let scheme = parts.first, scheme.lowercased() == "bearer" else { return refuse(401) }
    guard parts.count == 2 else { return refuse(400, "invalid_request", "the Authorization field cannot be read") }
    return bearer(String(parts[1]), requiring: scope, at: now)
  }

  func bearer(_ token: String, requiring scope: String?, at now: Double) -> Result<Caller, BearerRefusal> {
    guard let (access, grant) = store.access(token, at: now) else {
      return refuse(401, "invalid_token", "the access token is unknown, revoked or has expired")
    }
    if let scope, !access.scope.contains(scope) {
      return refuse(403, "insufficient_scope", "this needs the scope \(scope)", scope: scope)
    }
    return .success(Caller(subject: grant.subject, clientID: grant.clientID, scope: access.scope))
  }

  /// A challenge without an error when no token came (§3.1).
  private func refuse(
    _ status: Int, _ error: String? = nil, _ description: String = "", scope: String? = nil
  ) -> Result<Caller, BearerRefusal> {
    var challenge = "Bearer realm=\"dev\""
    if let error { challenge += ", error=\"\(error)\", error_description=\"\(description)\"" }
    if let scope { challenge += ", scope=\"\(scope)\"" }
    let body: [(String, JSONText)] =
      error.map { [("error", .string($0)), ("error_description", .string(description))] } ?? []
    return .failure(
      BearerRefusal(
        response: .json(
          .object(body), status: status,
          headers: DevResponse.noStore + [HTTPField("WWW-Authenticate", challenge)])))
  }
}
