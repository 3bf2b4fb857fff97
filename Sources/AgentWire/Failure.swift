/// What went wrong, as a stable name on the wire (`error.data.failure`). Each has a fixed JSON-RPC code, and says whether
/// trying again may help and whether a person is needed.
package enum FailureKind: String, CaseIterable, Sendable, Codable {
  case badRequest = "bad_request"
  case unsupportedMethod = "unsupported_method"
  case unsupportedParameter = "unsupported_parameter"
  case `internal` = "internal"
  case accountUnknown = "account_unknown"
  case accountAmbiguous = "account_ambiguous"
  case definitionChanged = "definition_changed"
  case configInvalid = "config_invalid"
  case loginRequired = "login_required"
  case loginPending = "login_pending"
  case loginCancelled = "login_cancelled"
  case clientRejected = "client_rejected"
  case serverRefused = "server_refused"
  case vaultLocked = "vault_locked"
  case keyMissing = "key_missing"
  case vaultInUse = "vault_in_use"
  case vaultDamaged = "vault_damaged"
  case storageFailed = "storage_failed"
  case unavailable = "unavailable"
  case timeout = "timeout"
  case validityUnattainable = "validity_unattainable"
  case tokenUnchanged = "token_unchanged"
  case notPermitted = "not_permitted"
  case rateLimited = "rate_limited"
  case overloaded = "overloaded"

  /// The fixed `error.code` (JSON-RPC 2.0 §5.1 where that names one).
  package var code: Int {
    switch self {
    case .badRequest: -32600
    case .unsupportedMethod: -32601
    case .unsupportedParameter: -32602
    case .internal: -32603
    case .accountUnknown: 1
    case .accountAmbiguous: 2
    case .definitionChanged: 3
    case .configInvalid: 4
    case .loginRequired: 5
    case .loginPending: 6
    case .loginCancelled: 7
    case .clientRejected: 8
    case .serverRefused: 9
    case .vaultLocked: 10
    case .keyMissing: 11
    case .vaultInUse: 12
    case .vaultDamaged: 13
    case .storageFailed: 14
    case .unavailable: 15
    case .timeout: 16
    case .validityUnattainable: 17
    case .tokenUnchanged: 18
    case .notPermitted: 19
    case .rateLimited: 20
    case .overloaded: 21
    }
  }

  /// Whether the same request may succeed later without anybody doing anything.
  package var isRetryable: Bool {
    switch self {
    case .unavailable, .timeout, .rateLimited, .overloaded, .storageFailed, .loginPending, .vaultInUse: true
    default: false
    }
  }

  /// Whether a person has to do something first.
  package var needsInteraction: Bool {
    switch self {
    case .loginRequired, .loginPending, .loginCancelled, .definitionChanged, .vaultLocked, .keyMissing: true
    default: false
    }
  }

  /// The exit status of `oauthctl` for it (docs/protocol.md, "Exit status").
  package var exitStatus: Int32 {
    switch self {
    case .accountUnknown, .accountAmbiguous, .definitionChanged, .configInvalid: 3
    case .loginRequired, .loginPending, .loginCancelled: 4
    case .vaultLocked, .keyMissing, .vaultDamaged: 5
    case .unavailable, .timeout, .rateLimited, .overloaded, .storageFailed, .vaultInUse, .tokenUnchanged,
      .validityUnattainable:
      6
    case .notPermitted: 8
    case .clientRejected, .serverRefused: 9
    case .internal, .badRequest, .unsupportedMethod, .unsupportedParameter: 1
    }
  }
}

/// A failed request, as thrown and as sent: `{code, message, data}`.
package struct AgentFailure: Error, Sendable, Equatable {
  package var kind: FailureKind
  /// One line for people: what and why. Not stable.
  package var message: String
  /// One line for people: what to do next.
  package var hint: String?
  /// Milliseconds after which trying again makes sense.
  package var retryAfterMilliseconds: Int?
  /// The server's own `error` (RFC 6749 §5.2), escaped.
  package var oauthError: String?
  /// The server's own `error_description`, escaped and cut.
  package var oauthErrorDescription: String?
  /// What a log keeps instead of `message`, where that quotes a server. It never crosses the wire.
  package var logLine: String?
  /// For `validity_unattainable`: the greatest validity in seconds that could be met.
  package var maximumValiditySeconds: Int?
  /// For a choice among accounts: their names, the first few.
  package var accounts: [String]?

  package init(
    _ kind: FailureKind, _ message: String, hint: String? = nil, retryAfterMilliseconds: Int? = nil,
    oauthError: String? = nil, oauthErrorDescription: String? = nil, maximumValiditySeconds: Int? = nil,
    accounts: [String]? = nil
  ) {
    self.kind = kind
    self.message = message
    self.hint = hint
    self.retryAfterMilliseconds = retryAfterMilliseconds
    self.oauthError = oauthError
    self.oauthErrorDescription = oauthErrorDescription
    self.maximumValiditySeconds = maximumValiditySeconds
    self.accounts = accounts
  }
}

extension AgentFailure: Decodable {
  private enum CodingKeys: String, CodingKey { case message, data }
  private enum DataKeys: String, CodingKey {
    case failure, hint, accounts
    case retryAfterMilliseconds = "retry_after_ms"
    case oauthError = "oauth_error"
    case oauthErrorDescription = "oauth_error_description"
    case maximumValiditySeconds = "max_validity_s"
  }

  package init(from decoder: any Decoder) throws {
    let outer = try decoder.container(keyedBy: CodingKeys.self)
    let data = try outer.nestedContainer(keyedBy: DataKeys.self, forKey: .data)
    // A newer agent may know failures that this client does not: they read as `internal`, with their message.
    kind = FailureKind(rawValue: try data.decode(String.self, forKey: .failure)) ?? .internal
    message = try outer.decode(String.self, forKey: .message)
    hint = try data.decodeIfPresent(String.self, forKey: .hint)
    retryAfterMilliseconds = try data.decodeIfPresent(Int.self, forKey: .retryAfterMilliseconds)
    oauthError = try data.decodeIfPresent(String.self, forKey: .oauthError)
    oauthErrorDescription = try data.decodeIfPresent(String.self, forKey: .oauthErrorDescription)
    maximumValiditySeconds = try data.decodeIfPresent(Int.self, forKey: .maximumValiditySeconds)
    accounts = try data.decodeIfPresent([String].self, forKey: .accounts)
  }

  /// As the coders of this protocol spell it, but in a sixth of their time: whoever sends garbage is refused on the event
  /// loop that everybody shares.
  var json: [UInt8] {
    var writer = TokenLineWriter()
    writer.raw("{")
    writer.member("code", kind.code)
    writer.object("data") { data in
      if let accounts { data.member("accounts", accounts) }
      data.member("failure", kind.rawValue)
      data.member("hint", hint)
      data.member("interaction_required", kind.needsInteraction)
      data.member("max_validity_s", maximumValiditySeconds)
      data.member("oauth_error", oauthError)
      data.member("oauth_error_description", oauthErrorDescription)
      data.member("retry_after_ms", retryAfterMilliseconds)
      data.member("retryable", kind.isRetryable)
    }
    writer.member("message", message)
    writer.raw("}")
    return writer.bytes
  }
}
