import AgentWire
import OAuthTerms

/// Options that need company. One that could only be ignored is refused: whoever typed it believes that it was heard. What
/// permits or forbids something (`--replace` and its like), and what describes the server (endpoints, `--ca`), is so in any
/// company.
extension LoginOptions {
  /// What the words alone tell.
  ///
  /// - Throws: `CommandError.usage`
  func checkCombinations() throws(CommandError) {
    if clientSecretFromInput, let typed = clientAuthentication,
      let method = ClientAuthenticationMethod(typed: typed), method.proof != .sharedSecret
    {
      throw .usage(
        "--client-secret-stdin: no secret is sent with --client-authentication \(typed)", next: "leave out one of them")
    }
    if !addedScope.isEmpty, let other = (definingFlags + endpointFlags).first {
      throw .usage(
        "--add-scope is for an account that is there, and \(other) for a new one",
        next: "name all scopes of a new one with --scope")
    }
  }

  /// What only tells when it is known how the login is made.
  ///
  /// - Throws: `CommandError.usage`
  func check(for known: GrantKind) throws(CommandError) {
    let grant = device ? .deviceCode : known
    for rule in rules(for: grant.terms) {
      guard !rule.holds, let option = rule.options.first(where: \.isGiven)?.name else { continue }
      let remedy = device && rule.isForBrowser ? "leave it out, or --device" : "leave it out"
      throw .usage("\(option) is for \(rule.place), and this login is by \(grant.rawValue)", next: .advice(remedy))
    }
  }

  /// Whom a signature is for matters to who signs, and no server's metadata makes a client sign. `account` has what a
  /// preset says, too.
  ///
  /// - Throws: `CommandError.usage`
  func checkAssertionAudience(of account: NewAccount) throws(CommandError) {
    guard assertionAudience != nil, account.effectiveGrant?.terms.need != .privateKey else { return }
    guard account.effectiveClientAuthentication?.signs != true else { return }
    let signing = ClientAuthenticationMethod.allCases.filter(\.signs).map(\.rawValue).joined(separator: " or ")
    throw .usage(
      "--assertion-audience is for a client that signs, with --client-authentication \(signing)", next: "leave it out")
  }

  /// Both files of a redirect on https, wherever each is named.
  ///
  /// - Throws: `CommandError.usage`
  func checkRedirectFiles(of account: NewAccount) throws(CommandError) {
    let certificate = account.names("redirect_cert_file")
    guard certificate != account.names("redirect_key_file") else { return }
    throw .usage(
      certificate
        ? "--redirect-cert needs the private key beside it: --redirect-key is missing"
        : "--redirect-key needs the certificate beside it: --redirect-cert is missing")
  }

  private struct Rule {
    let options: [(name: String, isGiven: Bool)]
    let place: String
    let holds: Bool
    var isForBrowser = false
  }

  private func rules(for terms: GrantKind.Terms) -> [Rule] {
    [
      Rule(
        options: [
          ("--prompt", prompt != nil), ("--max-age", maximumAge != nil), ("--login-hint", loginHint != nil),
          ("--port", port != nil), ("--redirect-path", redirectPath != nil), ("--redirect-uri", redirectURI != nil),
          ("--redirect-cert", redirectCertificate != nil), ("--redirect-key", redirectKey != nil),
          ("--param", !parameters.isEmpty),
        ], place: "a login by browser", holds: terms.giver == .browser, isForBrowser: true),
      Rule(
        options: [("--password-stdin", passwordFromInput), ("--keep-password", keepPassword)],
        place: "--grant password", holds: terms.need == .password),
      Rule(
        options: [("--no-browser", noBrowser), ("--no-qr", noQRCode)], place: "a login by browser or by code",
        holds: terms.giver != .nobody),
      // Of these no server says who has logged in: nobody has.
      Rule(
        options: [("--user", user != nil)], place: "a login that a person makes",
        holds: ![.clientSecret, .otherLogin].contains(terms.need)),
      Rule(
        options: [("--subject-account", subjectAccount != nil)], place: "--grant token_exchange or id_jag",
        holds: terms.need == .otherLogin),
    ]
  }

  /// Endpoints that make an account where no issuer is named.
  private var endpointFlags: [String] {
    (tokenEndpoint == nil ? [] : ["--token-endpoint"])
      + (authorizationEndpoint == nil ? [] : ["--authorization-endpoint"])
  }

  /// The options that write the keys of an account's file, by those. An issuer is named without an option.
  static let ofKeys = [
    "issuer": "issuer", "client_id": "--client-id", "client_authentication": "--client-authentication",
    "grant": "--grant", "grant_type": "--grant-type", "subject_account": "--subject-account", "scope": "--scope",
    "resource": "--resource", "audience": "--audience", "redirect_uri": "--redirect-uri", "redirect_ports": "--port",
    "redirect_cert_file": "--redirect-cert", "redirect_key_file": "--redirect-key", "hosts": "--host",
    "authorization_endpoint": "--authorization-endpoint", "token_endpoint": "--token-endpoint",
    "device_authorization_endpoint": "--device-authorization-endpoint", "username": "--username", "ca_file": "--ca",
    "git_username": "--git-username", "authorize_parameters": "--param", "token_parameters": "--token-param",
  ]
}

extension NewAccount {
  /// Whether its file has this key.
  func names(_ key: String) -> Bool {
    tomlText.split(separator: "\n").contains { $0.hasPrefix("\(key) = ") || $0 == "[\(key)]" }
  }

  /// The option that `key`, as the agent names it, came from; nil: a preset has it, or nothing that was typed.
  func option(of key: String) -> String? {
    let parts = key.split(separator: ".", maxSplits: 1).map(String.init)
    var typed = self
    typed.defaults = [:]
    guard let name = parts.first, let option = LoginOptions.ofKeys[name], typed.names(name) else { return nil }
    return parts.count > 1 ? "\(option) \(parts[1])" : option
  }
}
