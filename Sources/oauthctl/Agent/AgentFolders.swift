import AgentWire
import Glibc
import SystemFacts

/// Where the agent has its files, which need not be where this shell would have them: an agent that is running was
/// started with other `XDG_…` variables, or by systemd with none.
struct AgentFolders: Sendable {
  /// `agent.status` names them by their raw values.
  typealias Kind = BaseFolder

  let environment: Environment
  /// None: an older agent, which does not tell.
  private let told: [String: String]
  /// Whether a restart by this shell gives the agent the folders of a shell without variables of its own.
  private let restartMovesHome: Bool
  /// Whether a restart by this shell gives the agent the folders of this shell: systemd has its own.
  private let restartMovesHere: Bool
  /// Whether systemd starts it.
  private let isService: Bool

  init(_ environment: Environment, _ status: AgentStatusAnswer?) {
    self.environment = environment
    told = status?.folders ?? [:]
    isService = status?.started == "systemd"
    restartMovesHere = !isService && environment["OAUTHCTL_SOCKET"] == nil
    restartMovesHome = restartMovesHere && Kind.allCases.allSatisfy { environment[$0.variable] == nil }
  }

  func agents(_ kind: Kind) -> String? { told[kind.rawValue] }

  /// The folder of this shell when it is another one.
  func shells(_ kind: Kind) -> String? {
    guard let agents = agents(kind), let mine = environment.folder(kind), !FileBytes.isSamePlace(mine, agents) else {
      return nil
    }
    return mine
  }

  /// Those that are not where this shell would have them.
  private var others: [Kind] { Kind.allCases.filter { shells($0) != nil } }

  /// What differs, in one line; nil: nothing does.
  var remark: String? {
    let differences = others.map { kind in
      let (agents, mine) = (agents(kind) ?? "", shells(kind) ?? "")
      return
        "\(kind.rawValue) folder is \(environment.abbreviated(agents)), this shell's \(environment.abbreviated(mine))"
    }
    return differences.isEmpty ? nil : "the agent's " + differences.joined(separator: "; its ")
  }

  /// The line that makes the agent's folders and this shell's the same; nil: they are.
  var remedy: NextStep? {
    guard let line else { return nil }
    switch place {
    case .shells where isService: return serviceMove(line)
    case .shells where restartMovesHere: return Self.restart
    case .agents: return .run(line)
    // The agent is the one that was started with other folders than the usual ones.
    case .shells, nil: return .run(restartMovesHome ? "\(Self.restart.text)   # or, for this shell: \(line)" : line)
    }
  }

  /// systemd gives its agent none of a shell's variables. So the files go back to where that looks for them; where systemd has
  /// variables of its own, only a person knows from where.
  private func serviceMove(_ line: String) -> NextStep {
    let kinds = Kind.allCases.filter(isInShells)
    guard kinds.allSatisfy(isUsual) else { return Self.managerStep(kinds) }
    let moves = kinds.compactMap { kind -> String? in
      guard let from = shells(kind), let to = agents(kind) else { return nil }
      let inner = kind == .configuration ? "/accounts.d" : ""
      let (source, target) = (ShellWord.quoted(from + inner), ShellWord.quoted(to + inner))
      // An agent of systemd makes an empty one.
      return access(to, F_OK) != 0
        ? "mkdir -p \(ShellWord.quoted(FileBytes.folder(of: to))) && mv -T \(ShellWord.quoted(from)) \(ShellWord.quoted(to))"
        : "mkdir -p \(target) && mv \(source)/* \(target)/"
    }
    return .run(
      (moves + [line, Self.restart.text]).joined(separator: " && ") + "   # to keep it there, see configuration.md")
  }

  /// For whoever may have changed what systemd gives its agent.
  private static func managerStep(_ kinds: [Kind]) -> NextStep {
    .advice(
      "change \(kinds.map(\.variable).joined(separator: ", ")) where systemd has that from (environment.d(5), or "
        + "set-environment of systemctl --user), then: systemctl --user daemon-reload && oauthctl agent restart")
  }

  private static let restart = NextStep.run("oauthctl agent restart")

  /// Whether the agent's folder is the one that it has without variables.
  private func isUsual(_ kind: Kind) -> Bool {
    guard let home = environment.home, let agents = agents(kind) else { return false }
    return FileBytes.isSamePlace(FileBytes.folder(of: agents), home + kind.fallback)
  }

  private enum Place { case agents, shells }

  /// Whose folders alone have files, of all that differ; nil: both have some, or neither.
  private var place: Place? {
    let agentsOnly = others.contains { kind in
      agents(kind).map { Self.hasFiles(kind, $0) } == true && shells(kind).map { Self.hasFiles(kind, $0) } == false
    }
    switch (agentsOnly, others.contains(where: isInShells)) {
    case (true, false): return .agents
    case (false, true): return .shells
    default: return nil
    }
  }

  /// Whether the files of that kind are in this shell's folder, and none in the agent's.
  private func isInShells(_ kind: Kind) -> Bool {
    guard let agents = agents(kind), let mine = shells(kind) else { return false }
    return Self.hasFiles(kind, mine) && !Self.hasFiles(kind, agents)
  }

  private static func hasFiles(_ kind: Kind, _ folder: String) -> Bool {
    switch kind {
    case .configuration: FileBytes.names(in: "\(folder)/accounts.d").contains { $0.hasSuffix(".toml") }
    case .data: access("\(folder)/vault.db", F_OK) == 0
    // The agent makes what it needs there.
    case .state: false
    }
  }

  /// Whether files of `kind` are where this shell has them, and a step brings the two together.
  private func canMove(_ kind: Kind) -> Bool { isInShells(kind) && place == .shells && (isService || restartMovesHere) }

  /// The line that gives this shell the agent's folders; nil: it has them.
  private var line: String? {
    var (unset, lines): ([String], [String]) = ([], [])
    for kind in others {
      let base = FileBytes.folder(of: agents(kind) ?? "")
      if let home = environment.home, FileBytes.isSamePlace(base, home + kind.fallback) {
        unset.append(kind.variable)
      } else {
        lines.append("export \(kind.variable)=\(ShellWord.quoted(base))")
      }
    }
    if !unset.isEmpty { lines.insert("unset " + unset.joined(separator: " "), at: 0) }
    return lines.isEmpty ? nil : lines.joined(separator: " && ")
  }

  /// Where this is an agent that was restarted, and `status` the one that came after it: what has moved, and the line that
  /// moves it back, for whoever did not mean it; nil: nothing has.
  func wayBack(from status: AgentStatusAnswer) -> (remark: String, next: NextStep)? {
    let moved = Kind.allCases.compactMap { kind -> String? in
      guard let before = agents(kind), let now = status.folders?[kind.rawValue], !FileBytes.isSamePlace(before, now)
      else { return nil }
      return
        "\(kind.rawValue) folder is \(environment.abbreviated(now)) now, and was \(environment.abbreviated(before))"
    }
    guard !moved.isEmpty else { return nil }
    let remark = "the agent's " + moved.joined(separator: "; its ")
    // What systemd gives it comes from several places, of which no command takes it back.
    if isService {
      let kinds = Kind.allCases.filter { agents($0) != status.folders?[$0.rawValue] }
      return (remark, Self.managerStep(kinds).map { "to go back, " + $0 })
    }
    return line.map { (remark, .advice("to go back: \($0) && oauthctl agent restart")) }
  }

  /// The failure of whoever is about to write a file that the agent would not read; nil: it reads it.
  func obstacle() -> CommandError? {
    guard let mine = shells(.configuration), let agents = agents(.configuration), let line else { return nil }
    return .configuration(
      "the agent reads \(agents), and this shell would write into \(mine): it was started with another XDG_CONFIG_HOME or HOME",
      next: restartMovesHome || !restartMovesHere || place == .shells
        ? remedy : .run("\(line)   # or, so that this shell starts it: oauthctl agent restart"))
  }

  /// The failure for an account that is defined where the agent does not look; nil: it is not.
  func misplaced(_ account: String) -> CommandError? {
    guard let mine = shells(.configuration), let agents = agents(.configuration), let line else { return nil }
    let file = "\(mine)/accounts.d/\(account).toml"
    guard SettingsFile(path: file).exists else { return nil }
    return .configuration(
      "\(account): \(file) is there, and the agent reads \(agents)",
      next: restartMovesHome || canMove(.configuration)
        ? remedy
        : .run(
          "mkdir -p \(ShellWord.quoted(agents + "/accounts.d")) && mv \(ShellWord.quoted(file)) "
            + "\(ShellWord.quoted(agents + "/accounts.d/"))   # or, for this shell: \(line)"))
  }

  /// `accounts` with the step that brings the agent and this shell together, where files are in this shell's folder that the
  /// agent misses.
  func explained(_ accounts: [AccountSummary]) -> [AccountSummary] {
    guard canMove(.configuration), let remedy else { return accounts }
    return accounts.map { account in
      guard account.fileGone == true else { return account }
      var account = account
      (account.hint, account.hintKind) = (remedy.text, remedy.kind)
      return account
    }
  }

  /// `status` with that step for its accounts, and for a vault that is in this shell's folder.
  func explained(_ status: AgentStatusAnswer) -> AgentStatusAnswer {
    var status = status
    status.accounts = explained(status.accounts)
    if status.vault.gone == true, let (reason, step) = vaultStep {
      (status.vault.reason, status.vault.hint, status.vault.hintKind) = (reason, step.text, step.kind)
    }
    return status
  }

  private var vaultStep: (reason: String, step: NextStep)? {
    guard canMove(.data), let remedy, let agents = agents(.data), let mine = shells(.data) else { return nil }
    return ("there is no vault at \(agents)/vault.db, and there is one at \(mine)/vault.db", remedy)
  }

  /// `failure`, where an account, or its login, is not known to an agent that looks elsewhere than this shell: with both
  /// places.
  func explained(_ failure: AgentFailure, about account: String?) -> AgentFailure {
    guard let remark, let remedy else { return failure }
    var failure = failure
    if failure.kind == .vaultDamaged {
      if let vaultStep { (failure.message, failure.hint) = (vaultStep.reason, vaultStep.step) }
      return failure
    }
    guard failure.kind == .accountUnknown else {
      failure.message += "; \(remark)"
      // The file that it misses may be there.
      if failure.kind == .configInvalid, canMove(.configuration) { failure.hint = remedy }
      return failure
    }
    let found = account.flatMap(misplaced)
    failure.message = found?.sentence ?? "\(failure.message); \(remark)"
    failure.hint = found?.nextStep ?? remedy
    return failure
  }
}

extension CommandContext {
  /// Says where an agent looks that does not look where this shell would.
  func tellFolders(_ status: AgentStatusAnswer?) {
    let folders = AgentFolders(environment, status)
    if let remark = folders.remark { terminal.warn(remark, next: folders.remedy) }
  }
}
