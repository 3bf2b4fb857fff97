import AgentWire
import OAuthTerms

/// `oauthctl status` as text: the accounts, worst first, then one line about the agent.
struct StatusPage: Sendable {
  var status: AgentStatusAnswer
  /// All pages' accounts.
  var accounts: [AccountSummary]
  /// Unix time.
  var now: Int
  /// Whether it is drawn over the one before, line by line: then each is cut to the terminal's width. Else the terminal
  /// breaks long ones, and what is to be typed stays whole.
  var isFrame = false

  func lines(_ terminal: Terminal) -> [String] {
    var lines: [String] = []
    if !accounts.isEmpty {
      let gone = GoneFiles(accounts)
      lines = table.lines(width: terminal.columns) { text, row, column in
        column == 1 ? terminal.paint(text, Self.color(accounts[row].state)) : text
      }
      for account in accounts {
        if account.fileGone == true {
          guard let group = gone.group(begunBy: account.account) else { continue }
          lines.append(cut("\(NameList.text(group.names.map(clean))): \(clean(group.reason))", terminal))
          if let step = group.step { lines.append(cut("  " + step.shown, terminal)) }
          continue
        }
        // What is idle lacks nothing, and a locked vault is told once, below.
        let isTold = [.ok, .expired, .locked].contains(account.state) || isToldBelow(account)
        let words = account.reason ?? (account.state == .new ? Self.newWords(account) : nil)
        let reason = isTold ? nil : words.map(clean)
        let hint = isToldBelow(account) ? nil : account.hint.map { NextStep.advice($0).shown }
        if let first = reason ?? hint { lines.append(cut("\(clean(account.account)): \(first)", terminal)) }
        if reason != nil, let step = account.nextStep { lines.append(cut("  " + step.shown, terminal)) }
      }
    }
    if accounts.isEmpty, [.open, .absent].contains(status.vault.state), status.problems.isEmpty {
      lines += ["no account yet", "  \(NextStep.firstLogin().line)"].map { cut($0, terminal) }
    }
    if accounts.isEmpty, status.problems.isEmpty, let none = NoAccount(shut: status.vault) {
      lines.append(cut(clean(none.sentence), terminal))
    }
    lines.append(cut(Self.agentLine(agentWords), terminal))
    if let trouble = status.vault.trouble { lines.append(cut("vault    \(clean(trouble))", terminal)) }
    // What is wrong with an open vault, or with its disk, has a step of its own.
    if let remedy = status.vault.remedy ?? (status.vault.reason == nil ? nil : status.vault.nextStep) {
      lines.append(cut("  " + remedy.shown, terminal))
    }
    for remark in status.degraded { lines.append(cut("degraded  \(clean(remark))", terminal)) }
    let problems = ProblemText(untold, leftOut: status.problemsLeftOut)
    for line in problems.lines + (problems.more.map { [$0] } ?? []) {
      lines.append(cut(NextStep.advice(line).shown, terminal))
    }
    return lines
  }

  /// Whether all that is wrong with it is wrong with the folder of its file, or with `config.toml`, which is told once, below.
  private func isToldBelow(_ account: AccountSummary) -> Bool {
    account.state == .configInvalid
      && status.problems.contains {
        !$0.file.hasSuffix("/accounts.d/\(account.account).toml") && $0.nextStep == account.nextStep
          && account.reason == $0.sentence
      }
  }

  /// The problems of files, without the one that stands beside an account already.
  private var untold: [ConfigurationProblem] {
    var told = Set(accounts.lazy.filter { $0.state == .configInvalid }.map { "\($0.account).toml" })
    return status.problems.filter { told.remove(FileBytes.name(of: $0.file)) == nil }
  }

  private var table: Table {
    // Many servers do not say who has logged in.
    let hasNames = accounts.contains { $0.who != nil }
    return Table(
      columns: [
        .init(title: "ACCOUNT", dropOrder: 0), .init(title: "STATE", dropOrder: 0),
        .init(title: "TOKEN LEFT", dropOrder: 1), .init(title: "LOGIN LASTS", dropOrder: 4),
        .init(title: "SERVER", dropOrder: 2),
      ] + (hasNames ? [.init(title: "WHO", dropOrder: 3)] : []),
      rows: accounts.map { account in
        [
          clean(account.account), word(account), tokenLeft(account), loginLasts(account),
          clean(account.host),
        ] + (hasNames ? [account.who.map(clean) ?? "-"] : [])
      })
  }

  private func tokenLeft(_ account: AccountSummary) -> String {
    // Nobody uses it, and nothing is wrong with that.
    if account.state == .expired { return "when asked" }
    // The page may be drawn again long after it was asked for.
    let left = account.expiresAt.map { $0 - now } ?? account.expiresInSeconds
    if let left { return left > 0 ? Duration.text(seconds: left) : "ended" }
    switch account.state {
    case .ok, .refreshing, .retrying: return "not told"
    default: return "-"
    }
  }

  private func loginLasts(_ account: AccountSummary) -> String {
    if let end = account.loginExpiresAt { return end > now ? Duration.text(seconds: end - now) : "ended" }
    switch account.state {
    case .new, .loginRequired, .clientRejected, .configInvalid, .loginPending, .locked: return "-"
    default: return account.renewable ? "not told" : "with the token"
    }
  }

  /// What the agent's line says behind its title.
  var agentWords: String {
    "pid \(status.pid), \(AgentReport.words(started: status.started)) · \(Self.vaultText(status.vault))"
  }

  static func agentLine(_ words: String) -> String { "agent    " + words }

  static func vaultText(_ vault: VaultStatusAnswer) -> String {
    vault.state == .absent ? vaultState(vault) : "vault " + vaultState(vault)
  }

  /// The same where the word "vault" stands before it.
  static func vaultState(_ vault: VaultStatusAnswer) -> String {
    switch vault.state {
    case .absent: return "no vault yet"
    case .open:
      let kind = [VaultSlotKind.keyFile, .passphrase, .recoveryCode].first { vault.has($0) }
      let state = vault.rolledBack == true ? "open, older than it was" : "open"
      return state + (kind.map { " (\($0.words))" } ?? "")
    case .locked where vault.reason != nil: return "locked"
    case .locked: return vault.has(.keyFile) ? "locked (a hold: its key file opens it)" : "locked (sealed)"
    case .keyMissing: return "without its key"
    case .inUse: return "in use by another agent"
    case .damaged where vault.otherSlotOpens == true && vault.keyFileFault == .damaged: return "without its key"
    case .damaged: return vault.gone == true ? "gone" : "damaged"
    case .failed: return "cannot be used"
    }
  }

  /// Of a vault that is not locked, and not open, nobody knows how its accounts are.
  private func word(_ account: AccountSummary) -> String {
    account.state == .locked && status.vault.state != .locked ? "not known" : Self.word(account)
  }

  static func word(_ account: AccountSummary) -> String {
    if account.fileGone == true { return "file gone" }
    if account.loggedOut == true { return "logged out" }
    if account.lenderChanged == true { return "lender changed" }
    guard let missing = account.missingSecret else { return word(account.state) }
    return missing == AccountCheckAnswer.privateKey ? "key missing" : "secret missing"
  }

  /// Why a new account gives no token.
  static func newWords(_ account: AccountSummary) -> String {
    if account.loggedOut == true { return "logged out" }
    return GrantKind(rawValue: account.grant)?.terms.giver == .nobody ? "no token yet" : "nobody logged in yet"
  }

  static func word(_ state: AccountSummary.State) -> String {
    switch state {
    case .ok: "ok"
    case .refreshing: "refreshing"
    case .retrying: "retrying"
    case .expired: "idle"
    case .loginPending: "logging in"
    case .loginRequired: "login needed"
    case .clientRejected: "client refused"
    case .definitionChanged: "file changed"
    case .configInvalid: "file invalid"
    case .new: "new"
    case .locked: "locked"
    }
  }

  static func color(_ state: AccountSummary.State) -> Terminal.Color {
    switch state {
    case .ok, .refreshing, .expired: .green
    case .retrying, .loginPending, .new, .locked: .yellow
    case .loginRequired, .clientRejected, .definitionChanged, .configInvalid: .red
    }
  }

  private func clean(_ text: String) -> String { PrintableText.escaped(text) }

  private func cut(_ line: String, _ terminal: Terminal) -> String {
    isFrame ? terminal.columns.map { Table.cut(line, to: $0) } ?? line : line
  }
}
