import AgentCore
import FetchWire
import HTTPTerms

/// Which requests of a browser reach the login, and what the others are answered.
struct RedirectRules: Sendable {
  enum Verdict: Equatable {
    case answer(RedirectReply)
    /// The page at the clean address, after the end.
    case landing(RedirectReply)
    /// The login judges it.
    case ask(target: String)
  }

  /// The port that was bound.
  let port: Int
  /// What browsers speak there.
  var scheme = Origin.Scheme.http

  /// Only a plain GET for our own address can end a login. `end` is how it has ended.
  func judge(_ request: RedirectRequest, end: RedirectPage?) -> Verdict {
    guard request.method == "GET" else { return .answer(.methodNotAllowed) }
    guard request.hosts.count == 1, isOurs(request.hosts[0]) else { return .answer(.wrongHost) }
    // A proxy of the user's own lends his number to whoever speaks to it, another user of the machine among them.
    guard !request.isForwarded else { return .answer(.forwarded) }
    guard request.target.hasPrefix("/"), !request.hasBody else { return .answer(.malformed) }
    guard let end else { return .ask(target: request.target) }
    return request.target == RedirectReply.landingPath ? .landing(RedirectReply(landing: end)) : .answer(.gone)
  }

  /// `localhost`, 127.0.0.0/8 or [::1] with the port that was bound. Another name that resolves to this computer is a
  /// page of somebody else's (DNS rebinding).
  private func isOurs(_ host: String) -> Bool {
    guard let origin = try? Origin(scheme: scheme, authority: host[...]) else { return false }
    return origin.isLoopback && origin.port == port
  }
}

extension RedirectReply {
  init(_ problem: RedirectReport.Problem) {
    self =
      switch problem {
      case .tooLarge: .tooLarge
      case .malformed: .malformed
      }
  }
}
