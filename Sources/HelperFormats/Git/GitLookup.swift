import HTTPTerms

/// One `get`: which token git needs, and the answer.
package struct GitLookup: HelperLookup, Equatable {
  /// How the token is sent to the server.
  enum Scheme: String, Sendable { case auto, basic, bearer }

  /// A user name that GitLab asks for and that most others do not look at.
  static let defaultUsername = "oauth2"

  /// `https://host[:port]/`, with the path where git tells it.
  package let url: String
  /// `https://host[:port]`, as in the keys of git's configuration.
  package let origin: String
  private let account: String?
  private let request: GitCredentialRequest
  private let offered: [Challenge]
  private let state: GitState?

  /// Nil: nothing to say, for instance about a protocol or host that no token may go to.
  package init?(_ request: GitCredentialRequest, account: String? = nil) {
    guard let root = GitRemote.url(protocol: request.protocol, host: request.host),
      let url = GitRemote.url(protocol: request.protocol, host: request.host, path: request.path)
    else { return nil }
    self.url = url
    self.account = account
    origin = String(root.dropLast())
    self.request = request
    offered = Challenge.parse(request.challenges)
    state = request.states.reduce(nil) { GitState($1) ?? $0 }
  }

  package var question: HelperQuestion {
    // What comes back in `state[]` is our own word from the round before; the user name may be too.
    let known = account ?? state?.account
    return HelperQuestion(
      url: url, account: known, username: known == nil ? request.username : nil,
      rejected: wasWrongScheme ? nil : state?.fingerprint)
  }

  private func offers(_ scheme: String) -> Bool { offered.contains { $0.scheme == scheme } }

  /// With `http.proactiveAuth` git asks before the server offered anything and is told Basic: a server that then offers
  /// Bearer alone has refused the scheme, and has not looked at the token.
  private var wasWrongScheme: Bool {
    request.knowsAuthtype && request.authtype?.lowercased() == "basic" && offers("bearer") && !offers("basic")
  }

  /// After a token was stored, git forgets `state[]`; when the server refuses it later in the same process, only the
  /// leftovers tell which token it was. Nil: the token at hand is the one to give.
  package func secondQuestion(after token: HelperToken) -> HelperQuestion? {
    // Mostly there is none.
    guard request.hasExpiry, state == nil, question.rejected == nil, let leftover = request.passwordExpiry,
      leftover == token.expiresAt,
      offered.contains(where: { $0.scheme == "bearer" && $0.parameter("error") == "invalid_token" })
    else { return nil }
    return HelperQuestion(url: url, account: account ?? token.account, rejected: token.fingerprint)
  }

  /// The lines for git, or a note why it gets none.
  ///
  /// `isSecond`: it answers ``secondQuestion(after:)``. `isSetUp` as in ``answer(_:isSetUp:)``.
  /// Throws `unwritable` for a token or user name that the protocol cannot carry.
  package func answer(
    _ token: HelperToken, isSecond: Bool = false, isSetUp: @autoclosure () -> Bool = true
  ) throws(HelperFormatError) -> HelperReply {
    try answer(token, scheme: .auto, isSecond: isSecond, isSetUp: isSetUp())
  }

  func answer(
    _ token: HelperToken, scheme: Scheme, isSecond: Bool = false, isSetUp: @autoclosure () -> Bool = true
  ) throws(HelperFormatError) -> HelperReply {
    try AuthorizationHeader.checkToken(token.accessToken)
    guard token.tokenType.lowercased() == "bearer" else {
      return answer(
        .other("git cannot send tokens of the type \(Self.plain(token.tokenType))"), isSetUp: isSetUp())
    }
    switch chosen(scheme) {
    case .none:
      let schemes = offered.map { Self.plain($0.scheme) }.joined(separator: ", ")
      return answer(
        .other("\(origin) takes no token: it offers \(schemes), and not Basic or Bearer"), isSetUp: isSetUp())
    case .some(.bearer) where !request.knowsAuthtype:
      return answer(
        .other("\(origin) takes Bearer tokens alone, which needs git 2.46 or newer"), isSetUp: isSetUp())
    case .some(.bearer):
      return HelperReply(
        output: lines("authtype=Bearer\ncredential=\(token.accessToken)\n", token, isSecond), note: token.warning)
    case .some:
      let username = token.username ?? Self.defaultUsername
      guard !username.isEmpty, username.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: ":") }) else {
        throw .unwritable("the user name for git")
      }
      // A helper that comes after ours, `store` for one, keeps a password and leaves a `credential` alone.
      let credential =
        request.knowsAuthtype
        ? "authtype=Basic\ncredential=\(BasicCredential.encode(username: username, token: token.accessToken))\n"
        : "username=\(username)\npassword=\(token.accessToken)\n"
      return HelperReply(output: lines(credential, token, isSecond), note: token.warning)
    }
  }

  /// What is said when there is no token. `isSetUp`: this helper was named for this very server, so that git is not to ask
  /// for a user name and a password, which do not exist and would go to the server.
  package func answer(_ failure: HelperFailure, isSetUp: @autoclosure () -> Bool = true) -> HelperReply {
    switch failure {
    case .notOurs(let message): isSetUp() ? HelperReply(output: "quit=1\n", note: message) : HelperReply()
    case .needsPerson(let message): HelperReply(output: "quit=1\n", note: message)
    case .other(let message): HelperReply(output: isSetUp() ? "quit=1\n" : "", note: message)
    }
  }

  /// Bearer where the server offers it and not Basic, else Basic; nil where it offers neither.
  private func chosen(_ scheme: Scheme) -> Scheme? {
    if scheme != .auto { return scheme }
    if offers("basic") || request.challenges.isEmpty { return .basic }
    return offers("bearer") ? .bearer : nil
  }

  /// `credential`: the lines that hold the token.
  private func lines(_ credential: String, _ token: HelperToken, _ isSecond: Bool) -> String {
    var lines = ""
    // First: git passes over what depends on a capability that was not announced yet.
    if request.knowsAuthtype { lines += "capability[]=authtype\n" }
    if request.knowsState { lines += "capability[]=state\n" }
    lines += credential
    if let expiry = token.expiresAt {
      lines += "password_expiry_utc=\(expiry)\n"
    } else if request.hasExpiry, request.passwordExpiry != nil {
      // git keeps the time of an earlier answer and would throw this one away by it; 0 is never.
      lines += "password_expiry_utc=0\n"
    }
    if request.knowsAuthtype { lines += "ephemeral=1\n" }
    if request.knowsState {
      // The server has refused one token already: to go on after another would go on for ever.
      let isLast = isSecond || state != nil && !wasWrongScheme
      if !isLast { lines += "continue=1\n" }
      if let state = GitState(fingerprint: token.fingerprint, account: token.account, isLast: isLast) {
        lines += "state[]=\(state.text)\n"
      }
    }
    return lines
  }

  private static func plain(_ text: String) -> String {
    String(decoding: text.utf8.prefix(32).map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
  }
}
