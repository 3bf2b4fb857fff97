import Sealing

/// What an endpoint that prepares a login answers (RFC 8628 §3.2, RFC 9126 §2.3), judged up to the members that are its
/// own.
enum EndpointAnswer {
  case members(JSONObject)
  case refused(OAuthError)

  /// What the server says is freed of `secrets`, those of the request.
  init(_ answer: HTTPAnswer, hiding secrets: RequestSecrets) throws(EndpointProblem) {
    guard [200, 201, 400, 401, 403].contains(answer.status), answer.body.count <= HTTPLimits.bodyBytes else {
      throw .status(answer.status)
    }
    guard case .object(let object) = TokenBody(answer) else {
      throw answer.status < 300 ? .notJSON(JSONProblem.notAnObject.rawValue) : .status(answer.status)
    }
    if let problem = object.problem { throw .notJSON(problem.rawValue) }
    if let error = OAuthError(object, hiding: secrets) {
      guard error.meaning != .transient else { throw .transient(error) }
      self = .refused(error)
      return
    }
    guard answer.status < 300 else { throw .status(answer.status) }
    self = .members(object)
  }
}

/// Why the answer of such an endpoint decides nothing.
package enum EndpointProblem: Error, Sendable, Equatable {
  case status(Int)
  case notJSON(String)
  /// The server says that it will pass.
  case transient(OAuthError)
  /// A member of its own is missing, or is not what it may be.
  case member(name: String, reason: String)

  /// Whether trying again later may help.
  package var isTransient: Bool {
    switch self {
    case .status(let status): status == 429 || status >= 500
    case .transient: true
    case .notJSON, .member: false
    }
  }
}

extension EndpointProblem: CustomStringConvertible {
  package var description: String {
    switch self {
    case .status(let status): "its status is \(status)"
    case .notJSON(let reason): reason
    case .transient(let error): "it says to try again later: \(error)"
    case .member(let name, let reason): "its \(name) is refused: \(reason)"
    }
  }
}
