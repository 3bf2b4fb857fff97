/// `login.start`: begins a login, or joins the one that is under way for the account.
package struct LoginStart: RequestParameters, Equatable {
  package typealias Answer = LoginStarted
  package static let method = Method.loginStart

  /// Chosen by the caller, 1 to 64 bytes: the same one again gives the same login, so the request is repeatable.
  package var requestID: String
  package var account: String
  /// Prefers the device flow (RFC 8628) for an account that can do both.
  package var device: Bool?
  /// The browser runs elsewhere and the redirect may have to be pasted (`login.complete`).
  package var remoteBrowser: Bool?
  /// Of the binding that a person has agreed to (`account.accept` with `dry_run` and `login`), where it differs from the
  /// one before.
  package var bindingDigest: String?
  /// Of the definition that a person was shown or has written, from `account.check`: with another one nothing is begun.
  package var definitionDigest: String?
  /// `prompt`, `max_age` (seconds) and `login_hint` of OpenID Connect Core 1.0 §3.1.2.1, for this login alone.
  package var prompt: String?
  package var maximumAgeSeconds: Int?
  package var loginHint: String?
  /// Who is expected at its end, by `sub`, `preferred_username` or `email`; anybody else is refused.
  package var user: String?
  /// The caller can ask a person whether somebody else than before may be logged in (`login.confirm`).
  package var confirmsUser: Bool?
  /// Of `secret.set`: the secrets that were given for this login.
  package var secretsID: String?

  package init(
    requestID: String, account: String, device: Bool? = nil, remoteBrowser: Bool? = nil, bindingDigest: String? = nil
  ) {
    self.requestID = requestID
    self.account = account
    self.device = device
    self.remoteBrowser = remoteBrowser
    self.bindingDigest = bindingDigest
  }

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable {
    case account, device
    case requestID = "request_id"
    case remoteBrowser = "remote_browser"
    case bindingDigest = "binding_digest"
    case definitionDigest = "definition_digest"
    case prompt, user
    case maximumAgeSeconds = "max_age"
    case loginHint = "login_hint"
    case confirmsUser = "confirm_user"
    case secretsID = "secrets_id"
  }
}

/// What the person has to do for a login.
package struct LoginStarted: Codable, Sendable, Equatable {
  package enum Kind: String, Codable, Sendable {
    /// Open `authorization_url` in a browser.
    case browser
    /// Open `verification_uri` and type `user_code`.
    case device
    /// Nothing: the grant needs no person (client credentials, stored password). `login.wait` has the result.
    case unattended
  }
  package var loginID: String
  package var kind: Kind
  package var account: String
  /// Seconds until the login is given up.
  package var expiresInSeconds: Int
  package var authorizationURL: String?
  /// What a browser on this machine is started with: it leads to `authorization_url` once, and has no `state` in it for
  /// others to read in the browser's arguments.
  package var browserURL: String?
  /// Where the browser will end, with the real port (RFC 8252 §7.3).
  package var redirectURI: String?
  /// Why the agent does not listen at `redirectURI`, where it would by the account's file; nil: it does, or would not.
  package var listenerProblem: String?
  package var userCode: String?
  package var verificationURI: String?
  package var verificationURIComplete: String?
  /// One line for people: what to look at before they go on.
  package var notice: String?
  /// True: another command has begun it, and it is there for that one, too.
  package var joined: Bool?

  package init(
    loginID: String, kind: Kind, account: String, expiresInSeconds: Int, authorizationURL: String? = nil,
    browserURL: String? = nil, redirectURI: String? = nil, userCode: String? = nil, verificationURI: String? = nil,
    verificationURIComplete: String? = nil, notice: String? = nil
  ) {
    self.loginID = loginID
    self.kind = kind
    self.account = account
    self.expiresInSeconds = expiresInSeconds
    self.authorizationURL = authorizationURL
    self.browserURL = browserURL
    self.redirectURI = redirectURI
    self.userCode = userCode
    self.verificationURI = verificationURI
    self.verificationURIComplete = verificationURIComplete
    self.notice = notice
  }

  package enum CodingKeys: String, CodingKey {
    case kind, account, notice, joined
    case loginID = "login_id"
    case expiresInSeconds = "expires_in_s"
    case authorizationURL = "authorization_url"
    case browserURL = "browser_url"
    case redirectURI = "redirect_uri"
    case listenerProblem = "listener_problem"
    case userCode = "user_code"
    case verificationURI = "verification_uri"
    case verificationURIComplete = "verification_uri_complete"
  }
}

/// `login.wait`: waits for the end of a login; a failed one is answered as a failure.
package struct LoginWait: RequestParameters, Equatable {
  package typealias Answer = LoginProgress
  package static let method = Method.loginWait

  package var loginID: String
  /// Milliseconds, 1 to 600,000. Default 30,000. A login not ended by then is answered with `pending`.
  package var timeoutMilliseconds: Int?

  package init(loginID: String, timeoutMilliseconds: Int? = nil) {
    self.loginID = loginID
    self.timeoutMilliseconds = timeoutMilliseconds
  }

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable {
    case loginID = "login_id"
    case timeoutMilliseconds = "timeout_ms"
  }
}

package struct LoginProgress: Codable, Sendable, Equatable {
  package enum State: String, Codable, Sendable { case pending, complete }
  package var state: State
  package var account: String
  /// Seconds the new access token lives; nil where the server did not say.
  package var expiresInSeconds: Int?
  /// Whether the agent can get the next token by itself.
  package var renewable: Bool?
  package var scope: [String]?
  /// Which granted scopes differ from the ones asked for.
  package var missingScope: [String]?
  /// Who the server says has logged in, fit to be shown; nil where it does not say.
  package var user: String?
  /// One line for people: what went wrong so far, while the login goes on.
  package var notice: String?
  /// One line for people: what a login that is complete lacks, and how the next one would have it.
  package var hint: String?
  /// While it is pending: it waits for `login.confirm`, since it would take the place of somebody else's login.
  package var otherUser: OtherUser?
  /// Beside `otherUser`, and of a login that is complete: accounts that get their tokens by this login and were agreed to
  /// with another one in its place. They give none until they are logged in anew. At most ``borrowerLimit`` are named.
  package var borrowers: [String]?
  /// How many more there are.
  package var borrowersLeftOut: Int?

  /// More than a person reads, and no more than a line holds.
  package static let borrowerLimit = 16

  package init(
    state: State, account: String, expiresInSeconds: Int? = nil, renewable: Bool? = nil, scope: [String]? = nil,
    missingScope: [String]? = nil, user: String? = nil, notice: String? = nil, hint: String? = nil
  ) {
    self.state = state
    self.account = account
    self.expiresInSeconds = expiresInSeconds
    self.renewable = renewable
    self.scope = scope
    self.missingScope = missingScope
    self.user = user
    self.notice = notice
    self.hint = hint
  }

  package enum CodingKeys: String, CodingKey {
    case state, account, renewable, scope, user, notice, hint, borrowers
    case expiresInSeconds = "expires_in_s"
    case missingScope = "missing_scope"
    case otherUser = "other_user"
    case borrowersLeftOut = "borrowers_left_out"
  }

  /// `names` are sorted.
  package mutating func concern(_ names: [String]) {
    borrowers = names.isEmpty ? nil : Array(names.prefix(Self.borrowerLimit))
    borrowersLeftOut = names.count > Self.borrowerLimit ? names.count - Self.borrowerLimit : nil
  }
}

/// `login.complete`: the redirect URL, copied from a browser that runs elsewhere, or handed over by the system.
package struct LoginComplete: RequestParameters, Equatable {
  package typealias Answer = LoginProgress
  package static let method = Method.loginComplete

  /// Nil: the login that the URL's `state` belongs to.
  package var loginID: String?
  package var redirectURL: String
  /// Milliseconds to wait for the end of the login, 1 to 600,000. Default 90,000. One not ended by then is answered with
  /// `pending`.
  package var timeoutMilliseconds: Int?

  package init(loginID: String? = nil, redirectURL: String, timeoutMilliseconds: Int? = nil) {
    self.loginID = loginID
    self.redirectURL = redirectURL
    self.timeoutMilliseconds = timeoutMilliseconds
  }

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable {
    case loginID = "login_id"
    case redirectURL = "redirect_url"
    case timeoutMilliseconds = "timeout_ms"
  }
}

/// `login.cancel`: gives a login up for every caller that shares it.
package struct LoginCancel: RequestParameters, Equatable {
  /// Milliseconds to wait for the answer: a login whose tokens are being saved is waited for.
  package static let timeoutMilliseconds = 15_000

  package typealias Answer = EmptyResult
  package static let method = Method.loginCancel

  package var loginID: String

  package init(loginID: String) { self.loginID = loginID }

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable { case loginID = "login_id" }
}
