import AgentWire

/// `account show` as text: a fact after the other.
struct AccountPageText {
  let details: AccountDetails
  let environment: Environment
  let terminal: Terminal

  /// What is kept. A private key is kept in the place of a client secret.
  private var secrets: [String] {
    details.secrets.map { details.publicKey != nil && $0 == SecretKind.clientSecret.rawValue ? "private key" : $0 }
  }

  var lines: [String] {
    let summary = details.summary
    var facts: [(String, String)] = []
    func add(_ name: String, _ value: String?) {
      if let value, !value.isEmpty { facts.append((name, value)) }
    }
    add("account", summary.account)
    add("state", StatusPage.word(summary))
    add("why", summary.state == .ok ? nil : summary.reason)
    add("next", summary.hint)
    add("file", environment.abbreviated(details.file))
    add("issuer", summary.issuer)
    add("client", summary.clientID)
    add("who", summary.who)
    add("not believed", details.identityConcern)
    add("client authentication", details.clientAuthentication)
    add("grant", summary.grant)
    add("grant type", details.grantType)
    add("subject account", details.lent.map { "\($0.subjectAccount) (\($0.subjectTokenType))" })
    add("actor account", details.lent?.actorAccount.map { "\($0) (\(details.lent?.actorTokenType ?? ""))" })
    add("requested type", details.lent?.requestedTokenType)
    add("tokens", summary.dpop == true ? "bound to a key (DPoP)" : nil)
    add("scope", summary.scope.joined(separator: " "))
    add("not granted", details.missingScope?.joined(separator: " "))
    add("resource", details.resource?.joined(separator: " "))
    add("audience", details.audience?.joined(separator: " "))
    add("hosts", summary.hosts.joined(separator: " "))
    add("ca_file", summary.certificateAuthorityFile.map(environment.abbreviated))
    add("git user", summary.gitUsername)
    for name in details.endpoints.keys.sorted() { add(name, details.endpoints[name]) }
    add("secrets", secrets.joined(separator: ", "))
    add("token left", summary.expiresInSeconds.map { $0 > 0 ? Duration.text(seconds: $0) : "ended" })
    add("renewed", summary.state == .new ? nil : (summary.renewable ? "by itself" : "by a new login"))
    add("fingerprint", details.fingerprint)
    // The first one is why the state is what it is.
    for problem in details.problems.dropFirst(summary.state == .configInvalid ? 1 : 0) {
      add("problem", problem.sentence)
    }
    for difference in details.differences {
      add("changed", "\(difference.key): \(difference.was) → \(difference.now)")
    }
    let width = facts.reduce(0) { max($0, $1.0.count) }
    let columns = terminal.outputIsTerminal ? terminal.columns : nil
    return facts.flatMap { name, value in
      let name = PrintableText.escaped(name)
      let label = name + String(repeating: " ", count: max(0, width - name.count) + 2)
      // A command stays whole: people copy it.
      let isCommand = name == "next" && summary.hintKind == "command"
      let text = terminal.visible(value, limit: 4_096)
      return ScreenRows.rows(label, width: label.count, text, columns: isCommand ? nil : columns)
    }
  }
}
