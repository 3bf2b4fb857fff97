import AgentWire

/// The vault, what opens it, and the disk below it.
enum VaultCheck {
  /// Bytes that must be free for the vault to go on.
  static let leastFreeBytes = 16 << 20

  static func findings(_ patient: Patient) -> [Finding] {
    var findings = [state(patient)]
    let vault = vaultFolder(patient)
    if let vault, patient.machine.status(vault) != nil {
      let disk = disk(vault, patient)
      if disk.level != .ok { findings.append(disk) }
      findings += privacy(of: vault, isFolder: true, patient)
      findings += patient.machine.names(vault).flatMap { privacy(of: "\(vault)/\($0)", isFolder: false, patient) }
    }
    if let state = patient.folder("XDG_STATE_HOME", otherwise: ".local/state") {
      findings += privacy(of: "\(state)/vault.key", isFolder: false, patient)
    }
    return findings
  }

  private static func vaultFolder(_ patient: Patient) -> String? {
    if let path = patient.status?.vault.path, path.hasPrefix("/") {
      return patient.machine.status(path)?.kind == .directory ? path : FileBytes.folder(of: path)
    }
    return patient.folder("XDG_DATA_HOME", otherwise: ".local/share")
  }

  private static func state(_ patient: Patient) -> Finding {
    guard let vault = patient.status?.vault else {
      guard let folder = vaultFolder(patient), patient.machine.status("\(folder)/vault.db") != nil else {
        return .ok("vault", "none yet; the first login makes it")
      }
      return .ok("vault", "\(patient.shown(folder)) (the agent knows whether it opens)")
    }
    let reason = vault.reason ?? StatusPage.vaultText(vault)
    switch vault.state {
    case .absent: return .ok("vault", "none yet; the first login makes it")
    case .locked: return .note("vault", reason, .run("oauthctl vault unlock"))
    case .keyMissing: return .wrong("vault", reason, .run("oauthctl vault unlock"))
    case .inUse: return .wrong("vault", reason, .advice("end the other agent: one vault has one agent"))
    case .damaged, .failed: return .wrong("vault", reason, .run("oauthctl vault status"))
    case .open: break
    }
    if let damaged = vault.slots.first(where: { $0.contains("damaged") }) {
      return .wrong("vault", "one of its keys is damaged: \(damaged)", .run("oauthctl vault status"))
    }
    if let reason = vault.reason { return .wrong("vault", reason, .run("oauthctl vault status")) }
    guard vault.slots.contains(where: { $0.hasPrefix("recovery_code") }) else {
      return .note(
        "vault", "it has no recovery code: with its key, your logins would be lost", .run("oauthctl vault --help"))
    }
    return .ok("vault", "open, with \(vault.slots.map(words).joined(separator: ", "))")
  }

  private static func words(_ slot: String) -> String { String(slot.map { $0 == "_" ? " " : $0 }) }

  private static func disk(_ folder: String, _ patient: Patient) -> Finding {
    if let free = patient.machine.freeBytes(folder), free < leastFreeBytes {
      return .wrong(
        "disk", "\(free >> 20) MiB are free at \(patient.shown(folder)): a new refresh token may find no room",
        .advice("make room there"))
    }
    if patient.machine.isNetworkFileSystem(folder) {
      return .note(
        "disk", "\(patient.shown(folder)) is on a network file system, where locks and fsync promise little",
        .advice("set XDG_DATA_HOME to a local folder, for you and the agent"))
    }
    return .ok("disk", "")
  }

  /// What is not the user's alone. Nothing there is nothing wrong.
  private static func privacy(of path: String, isFolder: Bool, _ patient: Patient) -> [Finding] {
    guard let found = patient.machine.status(path) else { return [] }
    let check = path.hasSuffix(".key") ? "key file" : "vault"
    if found.owner != patient.machine.userID {
      return [
        .wrong(
          check, "\(patient.shown(path)) belongs to another user (uid \(found.owner))",
          .run("chown \(patient.machine.userID) \(patient.quoted(path))"))
      ]
    }
    guard found.mode & 0o077 != 0, found.kind != .symbolicLink else { return [] }
    return [
      .wrong(
        check, "\(patient.shown(path)) is open to others (mode \(String(found.mode & 0o777, radix: 8)))",
        .run("chmod \(isFolder ? "700" : "600") \(patient.quoted(path))"))
    ]
  }
}
