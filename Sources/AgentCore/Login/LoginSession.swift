import AgentWire
import OAuthProtocol
import OAuthTerms
import Sealing

/// One login under way, or ended a short while ago.
struct LoginSession {
  enum State {
    case pending
    /// A token request is under way: further hits are ignored, and only a person ends it early.
    case exchanging
    /// The tokens are being made durable: nothing ends it but that.
    case keeping
    case ended(Result<LoginProgress, AgentFailure>)
  }

  let id: String
  /// Of every `login.start` that was answered with it, and whether that one joined it.
  var requests: [String: Bool] = [:]
  let definition: AccountDefinition
  let server: ResolvedServer
  let binding: DefinitionBinding
  /// Digest of the ``BindingConsent`` that it was begun with.
  let agreement: String
  let secrets: UsedSecrets
  /// The key that its tokens will be bound to, as it is sealed with them; nil: to none.
  let proofKey: Secret?
  /// What other accounts have lent for it.
  var loans: [Loan] = []
  /// `GrantRecord.loginID` of the logins that are to lend a token.
  var lenders: [String] = []
  /// The password is one that is kept, so that nobody would be asked for another.
  var isPasswordKept = false
  /// By device code, whatever the account's grant.
  var isDevice = false
  /// The browser is on another machine, or the person pastes its address in any case.
  var isBrowserRemote = false
  var wishes = LoginWishes()
  /// Whoever began it can ask a person about `otherUser`.
  var confirmsUser = false
  /// The last of those who waited for its end has gone, and nobody else has come since.
  var wasLeft = false
  /// Boot time at which somebody was last known to be there: began to wait, or was answered.
  var lastHeard = 0.0
  /// It waits for a person: see ``LoginCoordinator/mayReplace(_:with:_:)``.
  var otherUser: OtherUser?
  /// Accounts whose tokens are got by the login before.
  var borrowers: [String] = []
  /// The server is being asked whether the person has agreed: its answer may hold the tokens.
  var isPolling = false
  /// ``LoginCoordinator/epoch`` when it was begun.
  var epoch = 0
  /// How often its account had been left then.
  var departures = 0
  /// When it began; lives of tokens count from their own requests.
  let began: Moment
  var started: LoginStarted
  var state = State.pending
  /// Codes that the server refused, and its last words on one.
  var refusals = 0
  var refusal: AgentFailure?
  /// Authorization code only.
  var browser: Browser?
  /// Polling, unattended grants and the end of the window.
  var tasks: [Task<Void, Never>] = []

  struct Browser {
    let expectation: AuthorizationExpectation
    let pkce: PKCE
    /// As sent in the authorization request (RFC 6749 §4.1.3).
    let redirectURI: String
    /// Sent with `openid`: the ID token has to hold it.
    let nonce: String?
    let listeners: [any RedirectListening]
    /// Nil when nothing listens.
    var links: LoginLinks?
    /// Another user of this machine may have got the answer, and shown an address with a code of his own: only an ID token
    /// with the nonce tells that the code was given to this login.
    var isProvenByNonce = false
  }

  var clientSecret: Secret? { secrets.clientSecret }

  /// What to do when it failed.
  var again: NextStep {
    let secret = isPasswordKept ? "oauthctl secret set \(definition.name) password && " : ""
    let device = isDevice && definition.giver(device: false) != .device ? " --device" : ""
    return .run("\(secret)oauthctl login \(definition.name)\(device)")
  }

  /// Whether tokens may be on their way to us.
  var isReceiving: Bool {
    switch state {
    case .keeping: true
    // What waits for a person is given up like a login that nobody has answered yet.
    case .exchanging: otherUser == nil
    case .pending: isPolling && otherUser == nil
    case .ended: false
    }
  }

  /// Whether nobody waits for its end any more at boot time `now`. `isWaitedFor`: a request does now. Whoever asks a person
  /// has none under way from time to time, so it is the pause that tells.
  func isDeserted(at now: Double, isWaitedFor: Bool) -> Bool {
    guard !isWaitedFor else { return false }
    return otherUser == nil ? wasLeft : now - lastHeard > Self.questionPause
  }

  var isPending: Bool { if case .ended = state { false } else { true } }

  /// What callers get while it has not ended.
  var progress: LoginProgress {
    var progress = LoginProgress(state: .pending, account: definition.name, notice: refusal?.message)
    if let otherUser {
      progress.otherUser = otherUser
      progress.concern(borrowers)
      progress.notice =
        "\(definition.name): the login ended as \(otherUser.now), and the one before is \(otherUser.was)'s"
    }
    return progress
  }

  /// Codes that a login tries at the token endpoint: a person may paste a wrong one, and whoever guesses gets nowhere.
  static let codes = 5
  /// Seconds a login may take: enough for a password and a second factor. RFC 6749 §4.1.2 advises ten minutes at most
  /// for the code, and a shorter window leaves less to whoever guesses.
  static let windowSeconds = 300.0
  /// Seconds without a `login.wait` after which nobody asks a person any more: each of these is answered after one second
  /// then, and a slow machine has its time.
  static let questionPause = 5.0
  /// Ended logins that are remembered, so that `login.start` and `login.wait` can be repeated: as many as may wait for
  /// a browser at once.
  static let remembered = 64
  /// Callers of one login whose request may be repeated: more terminals than a person waits at.
  static let rememberedRequests = 16
}
