import AgentWire
import HTTPTerms
import OAuthTerms

/// An account as the command line describes it, and the `accounts.d/NAME.toml` it becomes. Only what was asked for is
/// written: defaults stay the agent's. No secrets are in it.
struct NewAccount: Sendable, Equatable {
  var issuer: String
  var clientID: String
  var clientAuthentication: ClientAuthenticationMethod?
  var assertionAudience: AssertionAudience?
  /// Nil: the default.
  var usesDPoP: Bool?
  var grant: GrantKind?
  /// An extension's `grant_type` (RFC 6749 §4.5).
  var grantType: String?
  var subjectAccount: String?
  var scope: [String] = []
  var redirectURI: String?
  var redirectPorts: [Int] = []
  var redirectCertificate: String?
  var redirectKey: String?
  var hosts: [String] = []
  var resource: [String] = []
  var audience: [String] = []
  var authorizationEndpoint: String?
  var tokenEndpoint: String?
  var deviceAuthorizationEndpoint: String?
  var username: String?
  var authorizeParameters: [(name: String, value: String)] = []
  var tokenParameters: [(name: String, value: String)] = []
  var certificateAuthorityFile: String?
  var gitUsername: String?
  /// What stands where nothing was given, by the keys of the file.
  var defaults: [String: ProviderDefault] = [:]
  /// The preset that those are of.
  var provider: String?

  /// The grant it will have.
  var effectiveGrant: GrantKind? { grant ?? defaults["grant"]?.text.flatMap(GrantKind.init(rawValue:)) }

  /// How its client will prove itself; nil: it is not said, and is found out.
  var effectiveClientAuthentication: ClientAuthenticationMethod? {
    clientAuthentication
      ?? defaults["client_authentication"]?.text.flatMap(ClientAuthenticationMethod.init(rawValue:))
  }

  static func == (left: NewAccount, right: NewAccount) -> Bool { left.tomlText == right.tomlText }

  static let firstLine =
    "# Written by `oauthctl login`. Edit it as you like; the agent says what it does not understand."

  /// The file's text.
  var tomlText: String {
    var lines = [Self.firstLine]
    if let provider { lines.append("# Begun with the preset \(provider), which it no longer depends on.") }
    var rest = defaults
    func add(_ key: String, _ value: ProviderDefault?) {
      let standard = rest.removeValue(forKey: key)
      if let value = value ?? standard { lines.append("\(key) = \(TOMLText.value(value))") }
    }
    func add(_ key: String, _ value: String?) { add(key, value.map(ProviderDefault.text)) }
    func add(_ key: String, _ values: [String]) { add(key, values.isEmpty ? nil : .list(values)) }
    add("issuer", issuer)
    add("client_id", clientID)
    add("client_authentication", clientAuthentication?.rawValue)
    add("assertion_audience", assertionAudience?.rawValue)
    add("dpop", usesDPoP.map(ProviderDefault.flag))
    add("grant", grant?.rawValue)
    add("grant_type", grantType)
    add("subject_account", subjectAccount)
    add("scope", scope)
    add("resource", resource)
    add("audience", audience)
    add("redirect_uri", redirectURI)
    if !redirectPorts.isEmpty {
      lines.append("redirect_ports = [\(redirectPorts.map(String.init).joined(separator: ", "))]")
    }
    add("redirect_cert_file", redirectCertificate)
    add("redirect_key_file", redirectKey)
    add("hosts", hosts)
    add("authorization_endpoint", authorizationEndpoint)
    add("token_endpoint", tokenEndpoint)
    add("device_authorization_endpoint", deviceAuthorizationEndpoint)
    add("username", username)
    add("ca_file", certificateAuthorityFile)
    add("git_username", gitUsername)
    var tables: [(key: String, members: [(name: String, value: String)])] = []
    var given = ["authorize_parameters": authorizeParameters, "token_parameters": tokenParameters]
    for (key, value) in rest.sorted(by: { $0.key < $1.key }) {
      if case .table(let members) = value {
        // What was given comes first.
        let given = given.removeValue(forKey: key) ?? []
        tables.append(
          (
            key,
            given
              + members.sorted { $0.key < $1.key }.filter { own in !given.contains { $0.name == own.key } }
              .map { ($0.key, $0.value) }
          ))
      } else {
        add(key, value)
      }
    }
    for (key, members) in given.sorted(by: { $0.key < $1.key }) where !members.isEmpty {
      tables.append((key, members))
    }
    for table in tables {
      lines += ["", "[\(table.key)]"]
      for (name, value) in table.members { lines.append("\(TOMLText.key(name)) = \(TOMLText.string(value))") }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// An issuer as typed: without a scheme it is https, and of the place of its metadata, copied from a browser, it is what
  /// that was made from (RFC 8414 §3, OpenID Connect Discovery §4, RFC 9728 §3).
  static func issuer(typed: String) -> String {
    var issuer = typed.contains("://") ? typed : "https://" + typed
    for place in [
      "/.well-known/openid-configuration", "/.well-known/oauth-authorization-server",
      "/.well-known/oauth-protected-resource",
    ] {
      guard let found = issuer.range(ofText: place) else { continue }
      let path = issuer[found.upperBound...]
      // The older place stands behind the issuer's path, the newer one before it.
      if path.isEmpty || path.hasPrefix("/") {
        issuer = String(issuer[..<found.lowerBound]) + (path == "/" ? "" : String(path))
      }
    }
    return issuer
  }

  /// A server's address as typed, for a command to be repeated: one of this machine seldom has https.
  static func address(typed: String) -> String {
    guard !typed.contains("://"), (try? WebURL("http://" + typed))?.origin.isThisMachine == true else { return typed }
    return "http://" + typed
  }

  /// A name that no account has.
  static func freeName(in environment: Environment) -> String {
    let names = ["work"] + (2...9).map { "work\($0)" }
    return names.first { name in (try? SettingsFile(account: name, in: environment).exists) != true } ?? "new"
  }

  /// Before anything is asked of the agent, or made. `command` is the command line with another address in the place of
  /// `typed`, a whole URL.
  ///
  /// - Throws: `CommandError.usage` for plain http beyond this machine, and for other schemes.
  static func checkAddress(_ typed: String, command: (String) -> String) throws(CommandError) {
    do throws(URLProblem) { _ = try Origin(of: typed) } catch {
      let rest = typed.range(ofText: "://").map { typed[$0.upperBound...] } ?? typed[...]
      let https = "https://\(rest)"
      // Where more than the scheme is wrong, another one does not help.
      guard error == .plainHTTP || error == .scheme, origin(of: https) != nil else { return }
      throw .usage(
        error == .plainHTTP
          ? "\(typed): http:// is accepted on this machine only (127.0.0.0/8, [::1], localhost)"
          : "\(typed): \(error)",
        next: .run(command(https)))
    }
  }

  /// Scheme, host and port of a URL: the issuer where only endpoints are given.
  static func origin(of url: String) -> String? {
    (try? Origin(of: url))?.description
  }

  /// The loopback redirect (RFC 8252 §7.3) for a fixed port and path; nil leaves the agent's default, any port and
  /// `/callback`.
  ///
  /// - Throws: `CommandError.usage` for a text that is no path.
  static func redirectURI(port: Int?, path: String?) throws(CommandError) -> String? {
    if port == nil, path == nil { return nil }
    if let port, !(1...65_535).contains(port) { throw .usage("--port \(port): a port is 1 to 65535") }
    let path = path ?? "/callback"
    guard path.hasPrefix("/"), !path.contains("#"), path.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw .usage("--redirect-path \(path): a path starts with / and has no blanks and no #")
    }
    return "http://127.0.0.1" + (port.map { ":\($0)" } ?? "") + path
  }

  /// One list of scope values (RFC 6749 §3.3) out of repeated and blank-separated ones, each once.
  static func scopes(_ values: [String]) -> [String] {
    var seen: [String] = []
    for scope in values.flatMap({ $0.split(whereSeparator: { $0 == " " || $0 == "\t" }) })
    where !seen.contains(String(scope)) {
      seen.append(String(scope))
    }
    return seen
  }
}

extension StringProtocol {
  /// With `other` where `text` first stands.
  func replacingFirst(_ text: String, with other: String) -> String {
    guard let place = range(ofText: text) else { return String(self) }
    return String(self[..<place.lowerBound]) + other + String(self[place.upperBound...])
  }

  /// Where `text` first stands.
  func range(ofText text: String) -> Range<Index>? {
    var start = startIndex
    while start < endIndex {
      if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
      start = index(after: start)
    }
    return nil
  }
}
