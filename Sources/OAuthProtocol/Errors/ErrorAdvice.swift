/// What a server's error code says to a person, in one sentence, and the one thing to do about it.
package struct ErrorAdvice: Sendable, Equatable {
  package enum Action: Sendable, Equatable {
    /// The same login once more.
    case logIn
    /// The client's id, secret or kind, as it is registered at the server.
    case checkClient
    case checkScope
    /// How the account gets its tokens.
    case checkGrant
    /// The redirect address, as it is registered at the server.
    case checkRedirect
    /// `resource` or `audience`.
    case checkResource
    /// Whoever runs the server, or is in charge of its users, has to allow something.
    case askAdministrator
    case wait
    /// A sentence of its own.
    case other(String)

    /// The key of the account's file that it is about; nil: none, or one that is wrong at the server as well.
    package var definitionKey: String? {
      switch self {
      case .checkScope: "scope"
      case .checkResource: "resource"
      case .checkGrant: "grant"
      case .logIn, .checkClient, .checkRedirect, .askAdministrator, .wait, .other: nil
      }
    }
  }

  /// Follows a colon: small at its beginning, and without a full stop.
  package let sentence: String
  package let action: Action

  init(_ sentence: String, _ action: Action) {
    self.sentence = sentence
    self.action = action
  }
}

extension ErrorAdvice {
  /// What is known of `code`, or more exactly of what the server says beside it; nil where that is nothing.
  package init?(code: String, explanation: String?) {
    guard let advice = Self.detailed(by: explanation, of: code) ?? Self.codes[code] else { return nil }
    self = advice
  }

  /// What is known of the words beside a code: the number that Microsoft's servers begin them with, and some providers' own.
  package static func detailed(by explanation: String?, of code: String? = nil) -> ErrorAdvice? {
    guard let explanation else { return nil }
    if let number = microsoftNumber(in: explanation), let advice = microsoft[number] { return advice }
    return wordings.first { wording in
      if let own = wording.code, own != code { return false }
      return wording.isWhole ? explanation == wording.words : explanation.utf8.firstRange(of: wording.words) != nil
    }?.advice
  }

  /// The digits of the first `AADSTS…`.
  private static func microsoftNumber(in text: String) -> Int? {
    guard let start = text.utf8.firstRange(of: "AADSTS") else { return nil }
    return Int(
      String(decoding: text.utf8[start...].dropFirst(6).prefix { (0x30...0x39).contains($0) }.prefix(9), as: UTF8.self))
  }

  /// RFC 6749 §4.1.2.1 and §5.2, OpenID Connect Core §3.1.2.6, RFC 8628, 7009, 6750, 8707, 9449, 7591, 9101 (of which RFC
  /// 9126 speaks, too), 9396 and 9470, and OpenID's unmet_authentication_requirements; RFC 8693 and 7523 have no others. Then
  /// the words that some providers have instead.
  static let codes: [String: ErrorAdvice] = [
    "invalid_request": .init(
      "it lacks something that this server wants, or has something that it does not take",
      .other("compare the account with what the server's documents ask for")),
    "unauthorized_client": .init("this client may not log in in this way", .checkClient),
    "access_denied": .init("somebody there said no, or a rule of the server did", .logIn),
    "unsupported_response_type": .init("the server gives this client no authorization codes", .checkClient),
    "invalid_scope": .init("a scope is unknown there, or this client may not ask for it", .checkScope),
    "server_error": .init("the server is in trouble", .wait),
    "temporarily_unavailable": .init("the server is in trouble", .wait),
    "invalid_client": .init(
      "the client id or secret is wrong, or the server takes the secret in another way", .checkClient),
    "invalid_grant": .init("it has expired, was used before, or was taken back", .logIn),
    "unsupported_grant_type": .init(
      "the server does not log in in this way", .checkGrant),
    "invalid_request_uri": .init("the pushed request has expired, or was used before", .logIn),
    "invalid_request_object": .init("the server wants requests that are signed, which are not sent", .askAdministrator),
    "request_not_supported": .init("the server does not take requests that are signed", .askAdministrator),
    "request_uri_not_supported": .init("the server does not take requests that were pushed", noPushing),
    "registration_not_supported": .init("the server takes no client by its metadata alone", .checkClient),
    "interaction_required": .init("the server has to ask you something first", .logIn),
    "login_required": .init("the server has to ask you something first", .logIn),
    "consent_required": .init("you, or an administrator, have to agree first", .logIn),
    "account_selection_required": .init("the server has to know which of your accounts is meant", .logIn),
    "unmet_authentication_requirements": .init(
      "you cannot log in there in the way that was asked for",
      .other("take acr_values and their like out of authorize_parameters")),
    "insufficient_user_authentication": .init("the server wants a fresh or a stronger login", .logIn),
    "invalid_authorization_details": .init(
      "the server does not take these authorization_details",
      .other("compare authorization_details in authorize_parameters with the server's documents")),
    "authorization_pending": .init("nobody has entered the code yet", .wait),
    "slow_down": .init("the server is asked too often", .wait),
    "expired_token": .init("the code was not entered in time", .logIn),
    "unsupported_token_type": .init("the server does not take tokens of this kind back", .wait),
    "invalid_token": .init("the token has expired or was taken back", .logIn),
    "insufficient_scope": .init("the token lacks a scope that is needed there", .checkScope),
    "invalid_target": .init("the server gives no tokens for that resource or audience", .checkResource),
    "invalid_dpop_proof": .init("the server does not take the proof of possession (DPoP)", .logIn),
    "use_dpop_nonce": .init(
      "the server gives only tokens that are bound to a key (DPoP)",
      .other("log in with --dpop, or write dpop = true into the account's file")
    ),
    "invalid_redirect_uri": .init("the server does not take this redirect address", .checkRedirect),
    "invalid_client_metadata": .init("the server does not register such a client", .checkClient),
    "invalid_software_statement": .init(
      "the server registers no client without its operator's word", .askAdministrator),
    "unapproved_software_statement": .init(
      "the server registers no client without its operator's word", .askAdministrator),
    // GitHub
    "bad_verification_code": .init("the code is wrong, was used before, or is older than ten minutes", .logIn),
    "bad_refresh_token": .init("it has expired, was used before, or was taken back", .logIn),
    "incorrect_client_credentials": .init("client id and client secret do not belong together", .checkClient),
    "redirect_uri_mismatch": .init("the redirect address is not the one that is registered", .checkRedirect),
    "unverified_user_email": .init(
      "the account there has no confirmed mail address", .other("confirm the mail address of your account there")),
    "device_flow_disabled": .init(
      "device codes are not enabled for this client", .other("enable the device flow at the client's page there")),
    "incorrect_device_code": .init("the server does not know the device code", .logIn),
    // Of a device code as of a token.
    "token_expired": .init("what was sent to it has expired", .logIn),
    "application_suspended": .init("the client was suspended there", .askAdministrator),
    // Slack
    "invalid_code": .init("the code is wrong, was used before, or is too old", .logIn),
    "invalid_refresh_token": .init("it has expired, was used before, or was taken back", .logIn),
    "bad_client_secret": .init("client id and client secret do not belong together", .checkClient),
    "bad_redirect_uri": .init("the redirect address is not the one that is registered", .checkRedirect),
    "invalid_client_id": .init("the server does not know this client", .checkClient),
    "no_scopes": .init("the request names no scope", .checkScope),
    "no_user_scopes": .init("the request names no scope of a user's", .checkScope),
    "cannot_install_an_org_installed_app": .init(
      "the client is installed for the whole organization", .askAdministrator),
    "internal_error": .init("the server is in trouble", .wait),
    "fatal_error": .init("the server is in trouble", .wait),
    "service_unavailable": .init("the server is in trouble", .wait),
    "ratelimited": .init("the server is asked too often", .wait),
    // Google
    "admin_policy_enforced": .init("an administrator does not allow this scope or this client", .askAdministrator),
    "org_internal": .init("the client is for people of its own organization alone", .askAdministrator),
    "deleted_client": .init("the client was deleted there", .checkClient),
    "disallowed_useragent": .init(
      "Google takes no logins in browsers that are part of a program", .other("open the address in another browser")),
    // Microsoft
    "authorization_declined": .init("somebody there said no", .logIn),
    "invalid_resource": .init("the server does not know that resource, or not in this tenant", .checkResource),
    // Salesforce
    "inactive_user": .init("your account there is disabled", .askAdministrator),
    "inactive_org": .init("the organization there is locked or has ended", .askAdministrator),
    "rate_limit_exceeded": .init("the server is asked too often", .wait),
  ]

  private static let noPushing = Action.other("take pushed_authorization_request_endpoint out of the account's file")

  /// Words beside a code that say more than it does. `code`: nil for any; `isWhole`: nothing else is said.
  private static let wordings: [(code: String?, words: String, isWhole: Bool, advice: ErrorAdvice)] = [
    // Google
    (nil, "invalid_rapt", false, .init("the organization wants you to log in anew from time to time", .logIn)),
    // Atlassian
    (
      "unauthorized_client", "refresh_token is invalid", true,
      .init("it has expired, was used before, or was taken back", .logIn)
    ),
    // Auth0 and Atlassian
    ("access_denied", "Unauthorized", true, .init("the client secret is wrong", .checkClient)),
    // Okta
    (
      "access_denied", "Policy evaluation failed", false,
      .init("a rule of your organization does not allow it", .askAdministrator)
    ),
  ]
}

extension String.UTF8View {
  /// Where `word`, which is ASCII, first stands.
  fileprivate func firstRange(of word: String) -> Index? {
    let wanted = Array(word.utf8)
    return indices.first { self[$0...].starts(with: wanted) }
  }
}
