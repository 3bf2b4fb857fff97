import AgentWire
import SystemFacts

/// The vault, what opens it, and the disk below it.
enum VaultCheck {
  /// Milliseconds for reading every page and seal of the vault: one of ten thousand records takes some seconds.
  private static let checkMilliseconds = 30_000

  static func findings(_ context: DoctorContext, _ agent: any AgentCalling) -> [Finding] {
    var findings: [Finding] = []
    var isCounterTold = false
    let vault = vaultFolder(context)
    if let vault, context.machine.status(vault) != nil {
      if let disk = DiskCheck.finding(vault, context) { findings.append(disk) }
      findings += privacy(of: vault, isFolder: true, context)
      findings += context.machine.names(vault).flatMap { privacy(of: "\(vault)/\($0)", isFolder: false, context) }
    }
    if let state = context.environment.folder(.state) {
      let key = "\(state)/vault.key"
      let counter = privacy(of: "\(state)/vault.commits", isFolder: false, context)
      isCounterTold = !counter.isEmpty
      findings += privacy(of: key, isFolder: false, context) + counter
    }
    if let folder = stateFolder(context) { findings.append(folder) }
    var state = state(context, agent)
    // What one step mends is one fault, and the file that it is about is told.
    if state.level == .wrong, findings.contains(where: { $0.fix == state.fix }) { return findings }
    // A full disk is one fault, and the vault's own words say where.
    if let disk = findings.firstIndex(where: { $0.check == "disk" && $0.level == .wrong }) {
      let step = findings[disk].fix.map { $0.text } ?? ""
      if context.status?.vault.state == .failed, context.status?.vault.hint == nil {
        state.fix = findings.remove(at: disk).fix
        return [state] + findings
      }
      if let fix = state.fix, context.environment.shortPaths(in: fix.text).hasPrefix(step) {
        findings.remove(at: disk)
        return [state] + findings
      }
    }
    // One that cannot be read because of such a fault is that fault, told once.
    let isTold = state.level == .wrong && findings.contains { $0.level == .wrong && $0.check != "disk" }
    let told = context.status?.vault
    // What the agent says of an open vault, with a step of its own, it says of that counter.
    let isCounters = isCounterTold && told?.state == .open && told?.reason != nil && told?.hint != nil
    return (isTold && (told?.state == .failed || isCounters) ? [] : [state]) + findings
  }

  /// What is wrong with the folder of key file, commit counter and log; nil: nothing.
  static func stateFolder(_ context: DoctorContext) -> Finding? {
    guard let folder = context.status?.folders?["state"] ?? context.environment.folder(.state),
      let found = context.machine.status(folder), found.kind == .directory, found.owner == context.machine.userID
    else { return nil }
    let isClosed = found.mode & 0o700 != 0o700
    guard isClosed || found.mode & 0o022 != 0 else { return nil }
    return .wrong(
      "key file",
      "\(context.shown(folder)) "
        + (isClosed
          ? ClosedPath.reason(mode: found.mode) : "may be written by others (mode \(FileMode.digits(found.mode)))"),
      .run(ClosedPath.remedy(context.quoted(folder), isFolder: true)))
  }

  private static func vaultFolder(_ context: DoctorContext) -> String? {
    if let path = context.status?.vault.path, path.hasPrefix("/") {
      return context.machine.status(path)?.kind == .directory ? path : FileBytes.folder(of: path)
    }
    return context.environment.folder(.data)
  }

  private static func state(_ context: DoctorContext, _ agent: any AgentCalling) -> Finding {
    guard let vault = context.status?.vault else {
      guard let folder = vaultFolder(context), context.machine.status("\(folder)/vault.db") != nil else {
        return gone(context) ?? .ok("vault", "none yet; the first login makes it")
      }
      return VaultHolder.finding(in: folder, reason: nil, context)
        ?? .ok("vault", "\(context.shown(folder)) (the agent knows whether it opens)")
    }
    if vault.state == .open, let damage = damage(agent) { return damage }
    let reason = vault.reason ?? (vault.state == .open ? vault.trouble : nil) ?? StatusPage.vaultState(vault)
    if vault.state == .absent { return .ok("vault", "none yet; the first login makes it") }
    if vault.state == .inUse {
      return vaultFolder(context).flatMap { VaultHolder.finding(in: $0, reason: reason, context) }
        ?? .wrong("vault", reason, .run("oauthctl vault status"))
    }
    // Where the system says what it is, the log says no more.
    let toSee: NextStep =
      vault.reason == nil ? .run("oauthctl agent log -n 20") : "put that right; the agent tries again by itself"
    if let remedy = vault.remedy.map({ $0 == .run("oauthctl doctor") ? toSee : $0 }) {
      // A person has locked it, and knows that.
      let isKnown = vault.state == .locked && vault.reason == nil
      return isKnown ? .note("vault", reason, remedy) : .wrong("vault", reason, remedy)
    }
    // What else is said of an open vault is said of its commit counter, or of answers that wait for it.
    if vault.reason != nil {
      let step = vault.nextStep ?? "make that file one that you alone can write"
      return vault.counterMadeAnew == true ? .note("vault", reason, step) : .wrong("vault", reason, step)
    }
    if vault.recoveryCodeUntold == true {
      return .note("vault", vault.untoldWords, .run(repair(.recoveryCode)))
    }
    guard vault.has(.recoveryCode) else {
      return .note(
        "vault", "it has no recovery code: without \(vault.slotWords), your logins are lost",
        .run(repair(.recoveryCode)))
    }
    return .ok("vault", "open, with \(vault.slotWords)")
  }

  /// What is damaged in the file of a vault that is open; nil: nothing, or it could not be read in time. An open vault is
  /// served from memory, and may not open again.
  static func damage(_ agent: any AgentCalling) -> Finding? {
    do throws(CommandError) {
      _ = try agent.call(AgentWire.VaultCheck(), timeoutMilliseconds: checkMilliseconds)
      return nil
    } catch {
      guard case .agent(let failure, _) = error, failure.kind == .vaultDamaged, let hint = failure.hint else {
        return nil
      }
      return .wrong("vault", failure.message, hint)
    }
  }

  /// A vault that this machine remembers, where no agent runs that knows more.
  private static func gone(_ context: DoctorContext) -> Finding? {
    guard let state = context.environment.folder(.state),
      context.machine.status("\(state)/vault.commits") != nil, let folder = vaultFolder(context)
    else { return nil }
    if let data = BaseFolder.data.path(value: nil, home: context.environment.home),
      case let usual = data + "/oauthctl/vault.db", usual != "\(folder)/vault.db", context.machine.status(usual) != nil
    {
      return .wrong(
        "vault", "there is none at \(context.shown(folder)), and there is one at \(context.shown(usual))",
        .run("unset XDG_DATA_HOME"))
    }
    let vault = VaultStatusAnswer(state: .damaged, slots: [], path: "\(folder)/vault.db", gone: true)
    return vault.remedy.map { .wrong("vault", "its file \(context.shown(vault.path)) is gone", $0) }
  }

  /// Makes the slot anew.
  static func repair(_ kind: VaultSlotKind) -> String {
    switch kind {
    case .keyFile: "oauthctl vault key-file add"
    case .recoveryCode: "oauthctl vault recovery renew"
    case .passphrase: "oauthctl vault passphrase set"
    }
  }

  /// What is not the user's alone. Nothing there is nothing wrong.
  private static func privacy(of path: String, isFolder: Bool, _ context: DoctorContext) -> [Finding] {
    guard let found = context.machine.status(path) else { return [] }
    let check = path.hasSuffix(".key") ? "key file" : "vault"
    if found.owner != context.machine.userID {
      return [
        .wrong(
          check, "\(context.shown(path)) \(FileOwner.reason(found.owner))",
          .run(FileOwner.remedy(context.quoted(path), for: context.machine.userID)))
      ]
    }
    let own: UInt32 = isFolder ? 0o700 : 0o600
    guard found.mode & 0o077 != 0 || found.mode & own != own, found.kind != .symbolicLink else { return [] }
    let how =
      found.mode & 0o077 != 0
      ? "is open to others (mode \(FileMode.digits(found.mode)))" : ClosedPath.reason(mode: found.mode)
    return [
      .wrong(
        check, "\(context.shown(path)) \(how)", .run(ClosedPath.remedy(context.quoted(path), isFolder: isFolder)))
    ]
  }
}
