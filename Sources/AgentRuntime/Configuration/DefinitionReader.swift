import AgentCore
import HTTPTerms
import OAuthProtocol
import OAuthTerms
import SystemFacts

/// Reads an account's definition key by key.
struct DefinitionReader {
  private var keys: KeyReader

  static let known = [
    "issuer", "client_id", "grant", "grant_type", "client_authentication", "assertion_audience", "dpop", "scope",
    "allowed_scope", "scope_separator", "resource",
    "audience",
    "redirect_uri", "redirect_ports", "redirect_cert_file", "redirect_key_file", "hosts", "authorization_endpoint",
    "token_endpoint",
    "device_authorization_endpoint",
    "revocation_endpoint", "pushed_authorization_request_endpoint", "username", "authorize_parameters",
    "token_parameters", "subject_account", "subject_token_type", "actor_account", "actor_token_type",
    "requested_token_type", "ca_file", "proxy", "keep",
    "git_username", "paths", "default", "refresh_revokes_access_token", "refresh_scope",
    "ambiguous_retry", "reuse_grace_s",
  ]

  /// Reads `document`; `name` is the account's. Every problem is found, not only the first.
  static func read(
    _ document: TOMLDocument, name: String, file: String, folder: ConfigurationFolder
  ) -> Result<AccountDefinition, ConfigurationProblems> {
    var reader = DefinitionReader(keys: KeyReader(file: file, document: document))
    let definition = reader.definition(name: name, file: file, folder: folder)
    let problems = reader.keys.problems
    guard problems.isEmpty, let definition else {
      return .failure(ConfigurationProblems(problems))
    }
    return .success(definition)
  }

  private mutating func definition(name: String, file: String, folder: ConfigurationFolder) -> AccountDefinition? {
    keys.refuseOthers(than: Self.known)
    let issuer = required("issuer", ValueRules.issuer)
    let clientID = required("client_id", ValueRules.clientID)
    var definition = AccountDefinition(name: name, file: file, issuer: issuer ?? "", clientID: clientID ?? "")
    if let grant = grant() { definition.grant = grant }
    definition.grantType = grantType(of: definition.grant)
    definition.clientAuthentication = keys.choice("client_authentication", ClientAuthenticationMethod.self)?.rawValue
    definition.assertionAudience = keys.choice("assertion_audience", AssertionAudience.self)
    if let answer = keys.bool("dpop") { definition.usesDPoP = answer }
    let separator = keys.choice("scope_separator", ScopeSeparator.self) ?? .blank
    definition.scopeSeparator = separator
    definition.scope = scopes("scope", separator)
    definition.allowedScope = scopes("allowed_scope", separator)
    definition.resource = words("resource", limit: 16, ValueRules.resource)
    definition.audience = words("audience", limit: 16, ValueRules.audience)
    if let uri = checked("redirect_uri", ValueRules.redirectURI) { definition.redirectURI = uri }
    definition.redirectPorts = keys.ports("redirect_ports", limit: 16)
    definition.redirectIdentity = redirectIdentity(folder)
    checkRedirect(definition)
    definition.hosts = words("hosts", limit: 64, ValueRules.host)
    definition.authorizationEndpoint = checked("authorization_endpoint", ValueRules.endpoint)
    definition.tokenEndpoint = checked("token_endpoint", ValueRules.endpoint)
    definition.deviceAuthorizationEndpoint = checked("device_authorization_endpoint", ValueRules.endpoint)
    definition.revocationEndpoint = checked("revocation_endpoint", ValueRules.endpoint)
    definition.pushedAuthorizationRequestEndpoint = checked(
      "pushed_authorization_request_endpoint", ValueRules.endpoint)
    definition.username = checked("username") { ValueRules.plainText($0, limitBytes: 255) }
    definition.authorizeParameters = parameters(
      "authorize_parameters", reserved: ExtraParameters.checkForAuthorization)
    definition.tokenParameters = parameters("token_parameters", reserved: ExtraParameters.checkForToken)
    definition.lent = LentTokensReader.read(&keys, account: name, grant: definition.grant)
    definition.certificateAuthorityFile = keys.path("ca_file", folder: folder)
    definition.proxy = checked("proxy", ProxyURL.problem(with:))
    if let keep = keys.choice("keep", KeepPolicy.self) { definition.keep = keep }
    if let username = checked("git_username", ValueRules.basicUsername) { definition.gitUsername = username }
    definition.paths = words("paths", limit: 64, ValueRules.pathPrefix).map(ValueRules.withoutOuterSlashes)
    if let answer = keys.bool("default") { definition.isDefault = answer }
    if let answer = keys.bool("refresh_revokes_access_token") { definition.refreshRevokesAccessToken = answer }
    if let answer = keys.bool("refresh_scope") { definition.refreshNamesScope = answer }
    if let retry = keys.choice("ambiguous_retry", AmbiguousRetry.self) { definition.ambiguousRetry = retry }
    definition.reuseGraceSeconds = keys.seconds("reuse_grace_s", 1...86_400).map(Double.init)
    return issuer == nil || clientID == nil ? nil : definition
  }

  private mutating func required(_ key: String, _ rule: (String) -> String?) -> String? {
    guard keys.has(key) else {
      // One that is misspelled is no second fault.
      if !keys.meant.contains(key) { keys.refuse(key, "it is missing; every account needs it") }
      return nil
    }
    return checked(key, rule)
  }

  private mutating func checked(_ key: String, _ rule: (String) -> String?) -> String? {
    guard let text = keys.string(key) else { return nil }
    guard let reason = rule(text) else { return text }
    keys.refuse(key, reason)
    return nil
  }

  /// Both files or none.
  private mutating func redirectIdentity(_ folder: ConfigurationFolder) -> RedirectIdentityFiles? {
    let (certificate, key) = ("redirect_cert_file", "redirect_key_file")
    for (one, other) in [(certificate, key), (key, certificate)] where keys.has(one) && !keys.has(other) {
      keys.refuse(one, "it is of no use without \(other)")
    }
    let paths = (keys.path(certificate, folder: folder), keys.path(key, folder: folder))
    guard case (let certificate?, let key?) = paths else { return nil }
    return RedirectIdentityFiles(certificate: certificate, key: key)
  }

  /// What the keys of a redirect say together. Any port is for http alone (RFC 8252 §7.3): servers compare https redirects to
  /// the letter.
  private mutating func checkRedirect(_ definition: AccountDefinition) {
    guard let redirect = try? definition.redirect() else { return }
    if definition.redirectIdentity != nil {
      if redirect.certifiedHost == nil {
        keys.refuse(
          "redirect_cert_file", "it is for an https redirect_uri on this machine, as https://localhost:8443/callback")
      } else if redirect.port == nil, definition.redirectPorts.isEmpty, !keys.has("redirect_ports") {
        keys.refuse(
          "redirect_cert_file", "it is for a redirect_uri that names its port, as https://localhost:8443/callback")
      }
    }
    if !definition.redirectPorts.isEmpty, !redirect.isLoopback || redirect.port != nil {
      keys.refuse("redirect_ports", "they are for a redirect_uri on loopback that names no port")
    }
  }

  /// At most as many as are kept of a server's answer; a word may hold several where commas separate them.
  private mutating func scopes(_ key: String, _ separator: ScopeSeparator) -> [String] {
    let scopes = separator.split(words(key, limit: ScopeList.limit, ValueRules.scope))
    guard scopes.count <= ScopeList.limit else {
      keys.refuse(key, "it has \(scopes.count) scopes between its commas, more than \(ScopeList.limit)")
      return []
    }
    return scopes
  }

  private mutating func words(_ key: String, limit: Int, _ rule: (String) -> String?) -> [String] {
    let words = keys.words(key, limit: limit)
    for word in words {
      if let reason = rule(word) {
        keys.refuse(key, reason)
        return []
      }
    }
    return words
  }

  private mutating func grant() -> GrantKind? {
    if let text = keys.peekString("grant"), ["implicit", "token"].contains(text.lowercased()) {
      keys.refuse(
        "grant",
        "the implicit grant hands tokens out in addresses, where histories and logs keep them, and gives no refresh "
          + "token (RFC 9700 §2.1.2); use grant = \"authorization_code\", which needs no client secret")
      return nil
    }
    return keys.choice("grant", GrantKind.self)
  }

  /// The absolute URI of an extension (RFC 6749 §4.5).
  private mutating func grantType(of grant: GrantKind) -> String? {
    let key = "grant_type"
    guard grant == .extension else {
      if keys.string(key) != nil { keys.refuse(key, "it belongs to grant = \"\(GrantKind.extension.rawValue)\"") }
      return nil
    }
    guard keys.has(key) else {
      keys.refuse(key, "it is missing; the \(grant.rawValue) grant needs the URI of its type")
      return nil
    }
    return checked(key) { text in
      if let known = GrantKind.allCases.first(where: { $0.terms.type == text }) {
        return "that is grant = \"\(known.rawValue)\""
      }
      return ValueRules.resource(text)
    }
  }

  private mutating func parameters(
    _ key: String, reserved: ([ExtraParameter]) throws(ProtocolError) -> Void
  ) -> [String: String] {
    var table = keys.table(key, limit: 32)
    for (name, value) in table.sorted(by: { $0.key < $1.key }) {
      let place = "\(key).\(name)"
      if let advice = SecretKeys.advice(name, file: keys.file) {
        keys.refuse(place, advice)
        table[name] = nil
        continue
      }
      do {
        try reserved([ExtraParameter(name, value)])
      } catch {
        keys.refuse(place, Self.reason(error))
        table[name] = nil
      }
    }
    return table
  }

  private static func reason(_ error: ProtocolError) -> String {
    switch error {
    case .reservedParameter: "the protocol sets it; take it out"
    case .parameter(_, let reason): reason
    case .url, .issuer, .redirectURI, .duplicateParameter, .malformedForm, .clientAuthentication, .tooFewRandomBytes:
      "\(error)"
    }
  }
}

extension KeyReader {
  /// An absolute path, or one that begins with `~/`.
  mutating func path(_ key: String, folder: ConfigurationFolder) -> String? {
    guard let text = string(key) else { return nil }
    if PathWalk.isAbsolute(text) { return text }
    if let whole = TildePath.expanded(text, home: folder.home) { return whole }
    refuse(key, "it must be an absolute path, or begin with ~/")
    return nil
  }
}
