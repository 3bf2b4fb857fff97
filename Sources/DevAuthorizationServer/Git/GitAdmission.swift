import OAuthProtocol

/// Whether a git request gets to its repository.
package enum GitAdmission: Sendable {
  case admitted(subject: String, delayMilliseconds: Int)
  case refused(DevResponse)
}

extension DevAuthorizationServer {
  /// Judges the Authorization of a git request: `Bearer`, or `Basic` with the access token as password under any
  /// name. Scripted answers for ``DevEndpoint/git`` come first; whatever they do, the repository is not reached.
  package mutating func admit(git request: DevRequest, at now: Double) -> GitAdmission {
    guard GitRequest(request) != nil else {
      return .refused(finish(.text(404, "no such repository"), request, .git, at: now))
    }
    var subject: String?
    var response = scripted(.git, request) { server in
      switch server.gitCaller(request, at: now) {
      case .some(.success(let caller)):
        subject = caller.subject
        return DevResponse(status: 200)
      case .some(.failure): return server.gitChallenge("invalid_token")
      case nil: return server.gitChallenge(nil)
      }
    }
    if response.status != 200 || response.delivery != .whole { subject = nil }
    response = finish(response, request, .git, at: now)
    guard let subject else { return .refused(response) }
    return .admitted(subject: subject, delayMilliseconds: response.delayMilliseconds)
  }

  /// Nil when the request carries no credentials of a scheme in use.
  private func gitCaller(_ request: DevRequest, at now: Double) -> Result<Caller, BearerRefusal>? {
    let fields = request.headers.values("Authorization")
    guard fields.count == 1, let scheme = fields[0].split(separator: " ").first?.lowercased(),
      options.gitSchemes.contains(where: { $0.lowercased() == scheme })
    else { return nil }
    if scheme == "basic" {
      guard let (_, password) = BasicCredentials.decode(fields[0]), !password.isEmpty else { return nil }
      return bearer(password, requiring: nil, at: now)
    }
    let token = fields[0].dropFirst(scheme.count).drop { $0 == " " }
    return bearer(String(token), requiring: nil, at: now)
  }

  /// One field for each scheme, as servers with several of them do.
  private func gitChallenge(_ error: String?) -> DevResponse {
    .text(
      401, "log in first",
      headers: options.gitSchemes.map { scheme in
        var challenge = "\(scheme) realm=\"git\""
        if scheme == "Bearer", let error { challenge += ", error=\"\(error)\"" }
        return HTTPField("WWW-Authenticate", challenge)
      })
  }
}
