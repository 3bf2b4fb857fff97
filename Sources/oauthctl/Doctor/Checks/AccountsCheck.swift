import AgentWire
import Glibc
import OAuthTerms
import SystemFacts

/// Each account: its state, its server's metadata as the agent reaches it (with its proxy and authority), the secrets
/// it lacks, and its redirect port.
enum AccountsCheck {
  /// Accounts whose servers are asked, while a person waits.
  static let most = 200
  /// Servers that are asked at once: half of the requests that the agent sends at once, so that refreshes go on beside.
  static let atOnce = 8

  static func findings(_ context: DoctorContext, _ agent: any AgentCalling) -> [Finding] {
    if !context.hasAccounts {
      if context.hasUnreadFolder { return [] }
      guard let none = NoAccount(shut: context.status?.vault) else {
        return [.note("accounts", "there is none yet", .firstLogin())]
      }
      return [.note("accounts", none.sentence, none.step)]
    }
    let told = context.status?.problems ?? []
    var findings: [Finding] = []
    var waiting = Array(context.accounts.prefix(most))[...]
    while !waiting.isEmpty {
      let group = Array(waiting.prefix(atOnce))
      waiting = waiting.dropFirst(atOnce)
      let answers = group.map { account in Background { server(account, agent, told) } }
      for (account, answer) in zip(group, answers) {
        let server = answer?.value() ?? server(account, agent, told)
        // The state only warns of what its server and its lender may have told as a fault.
        let faults = server.filter { $0.level == .wrong }
        let saidAlready = Set(faults.map(\.message) + faults.compactMap { $0.fix?.line(after: $0.message) })
        let isServerTold = account.state == .retrying && faults.contains { $0.check == "server" }
        let state = state(account, isAlone: context.accounts.count == 1).filter {
          !saidAlready.contains($0.message) && !(isServerTold && $0.level == .note)
        }
        for finding in state + server + port(account, context) {
          // The installation has this fault, not each account: it is told once.
          if finding.check != ProgramCheck.name {
            findings.append(finding.about(account.account))
          } else if ProgramCheck.isWhole(context), !findings.contains(finding) {
            findings.append(finding)
          }
        }
      }
    }
    findings = SharedFault.merged(findings)
    if context.accounts.count > most {
      findings.append(.note("accounts", "only the first \(most) were looked at"))
    }
    return findings
  }

  /// `told` are the problems of files that are findings already.
  private static func server(
    _ account: AccountSummary, _ agent: any AgentCalling, _ told: [ConfigurationProblem]
  ) -> [Finding] {
    // A locked agent asks no server; the vault's own finding says so. Whether another server is meant is to be said first.
    if [.locked, .definitionChanged].contains(account.state) || account.fileGone == true { return [] }
    // Of its file nothing was read, which is a finding of its own.
    if account.issuer.isEmpty { return [] }
    let name = account.account
    do throws(CommandError) {
      let answer = try agent.ask(AccountCheck(account: name, definition: nil), about: name)
      if !answer.problems.isEmpty {
        // Told by the check of its file.
        if account.state == .configInvalid { return [] }
        // What is wrong with a folder is wrong with each file in it.
        let others = answer.problems.filter { problem in
          !told.contains { $0 == problem || problem.file.hasPrefix($0.file + "/") }
        }
        return others.map { .wrong("definition", $0.sentence, $0.nextStep) }
      }
      // A login asks for what it needs, a client that cannot prove itself is told by its state, and nobody has to keep a
      // password.
      let isAsked = [.new, .loginRequired, .clientRejected].contains(account.state)
      let missing = isAsked ? [] : (answer.missingSecrets ?? []).filter { $0 != SecretKind.password.rawValue }
      let secrets = missing.map { kind in
        kind == AccountCheckAnswer.privateKey
          ? Finding.wrong("secret", "its private key is missing", .run("oauthctl key create \(name)"))
          : Finding.wrong("secret", "its \(kind) is missing", .run("oauthctl secret set \(name) \(kind)"))
      }
      let said =
        switch answer.discovery ?? "none" {
        case "none": "its endpoints are in its file, so nothing was asked"
        case let found: "\(account.host) answers (\(found))"
        }
      return [.ok("server", said)] + secrets + concerns(answer.concerns ?? [], account)
    } catch {
      let sentence = error.sentence ?? "\(account.host) was not asked"
      let isOurs = if case .agent(let failure, _) = error { failure.kind == .internal } else { false }
      let isAway = isAway(error)
      var finding = Finding.wrong(
        isOurs ? ProgramCheck.name : "server", AgentFailure.text(sentence, without: name),
        isAway ? "check its address, and whether the server runs" : error.nextStep ?? "try again later")
      // The words may hold how long it took.
      if isAway { finding.fault = "server\n\(account.issuer)" }
      return [finding]
    }
  }

  /// Whether the server did not answer, for which the agent has no better advice.
  private static func isAway(_ error: CommandError) -> Bool {
    guard case .agent(let failure, _) = error else { return false }
    return failure.kind == .unavailable && failure.hint == nil && failure.retryAfterMilliseconds == nil
  }

  /// What does not hinder a login that works is not told, unless it will hinder the next.
  private static func concerns(_ found: [AccountConcern], _ account: AccountSummary) -> [Finding] {
    let works = [.ok, .refreshing].contains(account.state) && account.renewable
    return found.filter { $0.isBlocking == true || !works || $0.check == AccountConcern.redirect }.map { concern in
      concern.isBlocking == true
        ? .wrong(concern.check, concern.message, concern.nextStep)
        : .note(concern.check, concern.message, concern.nextStep)
    }
  }

  /// How long a login lasts that works.
  private static func life(_ account: AccountSummary) -> [Finding] {
    guard account.renewable else {
      let what = "the server gave no refresh token: it ends with its access token"
      return [.note("login", what, .run("oauthctl login \(account.account)"))]
    }
    let left = account.loginExpiresAt.map { $0 - Int(time(nil)) }
    let told = left.map { "; the server says for \(Duration.text(seconds: $0)) more" } ?? ""
    return [.ok("login", "it is renewed by itself" + told)]
  }

  private static func state(_ account: AccountSummary, isAlone: Bool) -> [Finding] {
    let name = account.account
    let reason = account.reason ?? StatusPage.word(account)
    switch account.state {
    case .ok, .refreshing:
      return account.hint.map { [.note("login", $0)] } ?? life(account).filter { isAlone || $0.level != .ok }
    case .expired, .loginPending: return account.hint.map { [.note("login", $0)] } ?? []
    case .new:
      let words = account.reason ?? StatusPage.newWords(account)
      return [.note("login", words, account.nextStep ?? .run("oauthctl login \(name)"))]
    case .retrying where account.hint != nil:
      return [.wrong("login", reason, account.nextStep ?? .run("oauthctl login \(name)"))]
    case .retrying: return [.note("login", reason, .advice("it is tried again by itself"))]
    case .loginRequired: return [.wrong("login", reason, account.nextStep ?? .run("oauthctl login \(name)"))]
    case .clientRejected: return [.wrong("login", reason, account.nextStep ?? .run("oauthctl account show \(name)"))]
    case .definitionChanged:
      return [.wrong("login", reason, account.nextStep ?? .run("oauthctl account accept \(name)"))]
    case .configInvalid where account.fileGone == true:
      return [.wrong("login", reason, account.nextStep ?? .run("oauthctl logout \(name)"))]
    // Told by the checks of its file, of its server and of the vault.
    case .configInvalid, .locked: return []
    }
  }

  /// A redirect address with a port of its own needs that port at the login.
  private static func port(_ account: AccountSummary, _ context: DoctorContext) -> [Finding] {
    guard account.state != .loginPending, GrantKind(rawValue: account.grant)?.terms.giver == .browser,
      let folder = context.environment.folder(.configuration),
      let text = context.machine.text("\(folder)/accounts.d/\(account.account).toml"),
      let port = redirectPort(text), context.machine.isPortFree(port) == false
    else { return [] }
    return [
      .wrong(
        "redirect",
        "port \(port) of its redirect address is taken by another program: until it is free, log in with --no-browser",
        .run("ss -ltnp 'sport = :\(port)'"))
    ]
  }

  /// The port in `redirect_uri`, in the spelling that `oauthctl login` writes.
  static func redirectPort(_ definition: String) -> Int? {
    for line in FileLines.shown(definition) {
      let parts = line.split(separator: "=", maxSplits: 1).map { String($0).trimmed }
      guard parts.count == 2, parts[0] == "redirect_uri" else { continue }
      let url = parts[1].drop { $0 == "\"" || $0 == "'" }
      guard url.hasPrefix("http://") else { return nil }
      let authority = url.dropFirst("http://".count).prefix { $0 != "/" && $0 != "?" && $0 != "\"" && $0 != "'" }
      guard let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") else { return nil }
      return Int(authority[authority.index(after: colon)...])
    }
    return nil
  }
}
