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
  case proofRequired = "proof_required"

  /// The fixed `error.code` (JSON-RPC 2.0 §5.1 where that names one).
  package var code: Int { rules.code }

  /// Whether the same request may succeed later without anybody doing anything.
  package var isRetryable: Bool { rules.isRetryable }

  /// Whether a person has to do something first.
  package var needsInteraction: Bool { rules.needsPerson }

  /// The exit status of `oauthctl` for it (docs/protocol.md, "Exit status").
  package var exitStatus: Int32 { rules.exitStatus }

  /// What it means to a program that asks whether there is a token for a server, as git does.
  package var bearing: Bearing { rules.bearing }

  package enum Bearing: Sendable {
    /// No account is for the server, or none that may be told.
    case noAccount
    /// An account is, and a person has to do something first.
    case person
    /// An account is, and it fails in passing or for good.
    case fault
  }

  private var rules: Rules {
    switch self {
    case .badRequest: Rules(-32600, exit: 1, .noAccount)
    case .unsupportedMethod: Rules(-32601, exit: 1)
    case .unsupportedParameter: Rules(-32602, exit: 1)
    case .internal: Rules(-32603, exit: 1)
    case .accountUnknown: Rules(1, exit: 3, .noAccount)
    case .accountAmbiguous: Rules(2, exit: 3, .person)
    case .definitionChanged: Rules(3, exit: 3, needsPerson: true)
    case .configInvalid: Rules(4, exit: 3)
    case .loginRequired: Rules(5, exit: 4, needsPerson: true)
    case .loginPending: Rules(6, exit: 4, isRetryable: true, needsPerson: true)
    case .loginCancelled: Rules(7, exit: 4, needsPerson: true)
    case .clientRejected: Rules(8, exit: 9, .person)
    case .serverRefused: Rules(9, exit: 9)
    case .vaultLocked: Rules(10, exit: 5, needsPerson: true)
    case .keyMissing: Rules(11, exit: 5, needsPerson: true)
    case .vaultInUse: Rules(12, exit: 6, isRetryable: true)
    case .vaultDamaged: Rules(13, exit: 5)
    case .storageFailed: Rules(14, exit: 6, isRetryable: true)
    case .unavailable: Rules(15, exit: 6, isRetryable: true)
    case .timeout: Rules(16, exit: 6, isRetryable: true)
    case .validityUnattainable: Rules(17, exit: 6)
    case .tokenUnchanged: Rules(18, exit: 6)
    case .notPermitted: Rules(19, exit: 8, .noAccount)
    case .rateLimited: Rules(20, exit: 6, isRetryable: true)
    case .overloaded: Rules(21, exit: 6, isRetryable: true)
    case .proofRequired: Rules(22, exit: 8, .person)
    }
  }

  private struct Rules {
    let code: Int
    let exitStatus: Int32
    let isRetryable: Bool
    let needsPerson: Bool
    let bearing: Bearing

    init(
      _ code: Int, exit: Int32, _ bearing: Bearing? = nil, isRetryable: Bool = false, needsPerson: Bool = false
    ) {
      self.code = code
      exitStatus = exit
      self.isRetryable = isRetryable
      self.needsPerson = needsPerson
      self.bearing = bearing ?? (needsPerson ? .person : .fault)
    }
  }
}

/// A failed request, as thrown and as sent: `{code, message, data}`.
package struct AgentFailure: Error, Sendable, Equatable {
  package var kind: FailureKind
  /// One line for people: what and why. Not stable.
  package var message: String
  /// What to do next.
  package var hint: NextStep?
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
  /// Where a login lacks what a request needs: the scopes.
  package var missingScope: [String]?
  /// The key of the account's file whose value is in the way, as the hint says: with another value, or without one, the same
  /// request may succeed.
  package var obstacleKey: String?

  package init(
    _ kind: FailureKind, _ message: String, hint: NextStep? = nil, retryAfterMilliseconds: Int? = nil,
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

  /// The exit status of who ends with it. A disk comes back by itself or with room, and then there is a time to try again;
  /// a vault whose files others may change, or that its owner may not read, waits for a person.
  package var exitStatus: Int32 {
    kind == .storageFailed && retryAfterMilliseconds == nil ? FailureKind.vaultDamaged.exitStatus : kind.exitStatus
  }
}

extension AgentFailure: Decodable {
  private enum CodingKeys: String, CodingKey { case message, data }
  private enum DataKeys: String, CodingKey {
    case failure, hint, accounts
    case hintKind = "hint_kind"
    case retryAfterMilliseconds = "retry_after_ms"
    case oauthError = "oauth_error"
    case oauthErrorDescription = "oauth_error_description"
    case maximumValiditySeconds = "max_validity_s"
    case missingScope = "missing_scope"
    case obstacleKey = "obstacle_key"
  }

  package init(from decoder: any Decoder) throws {
    let outer = try decoder.container(keyedBy: CodingKeys.self)
    let data = try outer.nestedContainer(keyedBy: DataKeys.self, forKey: .data)
    // A newer agent may know failures that this client does not: they read as `internal`, with their message.
    kind = FailureKind(rawValue: try data.decode(String.self, forKey: .failure)) ?? .internal
    message = try outer.decode(String.self, forKey: .message)
    hint = NextStep(
      try data.decodeIfPresent(String.self, forKey: .hint),
      kind: try data.decodeIfPresent(String.self, forKey: .hintKind))
    retryAfterMilliseconds = try data.decodeIfPresent(Int.self, forKey: .retryAfterMilliseconds)
    oauthError = try data.decodeIfPresent(String.self, forKey: .oauthError)
    oauthErrorDescription = try data.decodeIfPresent(String.self, forKey: .oauthErrorDescription)
    maximumValiditySeconds = try data.decodeIfPresent(Int.self, forKey: .maximumValiditySeconds)
    accounts = try data.decodeIfPresent([String].self, forKey: .accounts)
    missingScope = try data.decodeIfPresent([String].self, forKey: .missingScope)
    obstacleKey = try data.decodeIfPresent(String.self, forKey: .obstacleKey)
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
      data.member("hint", hint?.text)
      data.member("hint_kind", hint?.kind)
      data.member("interaction_required", kind.needsInteraction)
      data.member("max_validity_s", maximumValiditySeconds)
      if let missingScope { data.member("missing_scope", missingScope) }
      data.member("obstacle_key", obstacleKey)
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
