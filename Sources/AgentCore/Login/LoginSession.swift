import AgentWire
import OAuthProtocol
import Sealing

/// One login under way, or ended a short while ago.
struct LoginSession {
  enum State {
    case pending
    /// A code is being exchanged; further hits are ignored.
    case exchanging
    case ended(Result<LoginProgress, AgentFailure>)
  }

  let id: String
  let requestID: String
  let definition: AccountDefinition
  let server: ResolvedServer
  let binding: DefinitionBinding
  let clientSecret: Secret?
  /// When it began; lives of tokens count from their own requests.
  let began: Moment
  var started: LoginStarted
  var state = State.pending
  /// Authorization code only.
  var browser: Browser?
  var waiters: [UInt64: CheckedContinuation<Result<LoginProgress, AgentFailure>, Never>] = [:]
  /// Polling, unattended grants and the end of the window.
  var tasks: [Task<Void, Never>] = []

  struct Browser {
    let expectation: AuthorizationExpectation
    let pkce: PKCE
    /// As sent in the authorization request (RFC 6749 §4.1.3).
    let redirectURI: String
    let listeners: [any RedirectListening]
  }

  var isPending: Bool { if case .ended = state { false } else { true } }

  /// Seconds a login may take (RFC 6749 §4.1.2 advises codes of ten minutes at most).
  static let windowSeconds = 300.0
  /// Ended logins that are remembered, so that `login.start` and `login.wait` can be repeated.
  static let remembered = 64
}
