import AgentWire
import ArgumentParser
import CLinux
import Glibc
import SystemFacts

extension VaultCommand {
  struct Backup: ContextCommand {
    static let configuration = CommandConfiguration(
      abstract: "Copies the vault, sealed as it is, into one file.",
      discussion: """
        What opens the vault opens the copy: keep key file or recovery code elsewhere. The account files in \
        ~/.config/oauthctl are not in it: copy them too. A backup put back is an old vault: see \
        `oauthctl vault accept-rollback`.
        Example: oauthctl vault backup ~/backup/vault.db
        """)
    @Argument(help: "The file to write; it must not exist yet.", completion: .file()) var file: String
    @OptionGroup var verbosity: Verbosity

    func run(_ context: CommandContext) throws(CommandError) {
      guard access(file, F_OK) != 0 else {
        throw .usage("\(file) is there already", next: "name a file that is not there yet")
      }
      let status = try VaultSecrets(context: context).openVault()
      // The agent's, which need not be where this shell would have them.
      let agent = AgentFolders(context.environment, try? context.agent.ask(AgentStatus(limit: 1)))
      let own = [FileBytes.folder(of: status.path), agent.agents(.state) ?? context.environment.folder(.state)]
      guard !own.compactMap(\.self).contains(where: { Self.isReserved(file, folder: $0) }) else {
        throw .usage(
          "files called vault.… in the folders of the vault and its key come and go; choose another place",
          next: .run("oauthctl vault backup ~/logins.vault"))
      }
      let answer = try context.agent.call(VaultBackup(), timeoutMilliseconds: VaultSecrets.patienceMilliseconds)
      let written = try FileBytes.move(answer.path, to: file, byteCount: answer.bytes)
      defer { close(written) }
      // What was locked or changed meanwhile took the agent's copies away, and would have taken this one.
      let now = try? context.agent.ask(VaultStatusRequest())
      guard let now, now.state == .open, now.vaultDigest == status.vaultDigest else {
        let isThere = FileBytes.leads(file, to: written)
        if isThere { unlink(file) }
        throw .local(
          (now == nil ? "the agent does not answer since" : "the vault was locked or changed while")
            + " \(file) was written, "
            + (isThere ? "so that it is taken away again" : "and that lies elsewhere by now"),
          next: .run("oauthctl vault backup \(ShellWord.quoted(file))"), status: now == nil ? 6 : 3)
      }
      context.terminal.say(
        "\(count(answer.records, "record")), \(answer.bytes) bytes. To look at it: oauthctl vault check "
          + ShellWord.quoted(file))
      if status.recoveryCodeUntold == true {
        context.terminal.warn(
          "\(status.untoldWords), and then no code opens this copy", next: .run("oauthctl vault recovery renew"))
      }
      if let folder = agent.agents(.configuration) ?? context.environment.folder(.configuration) {
        context.terminal.say(
          "The account files are not in it. Copy them too: \(context.environment.abbreviated(folder))")
      }
      if status.has(.keyFile) {
        let other = status.has(.passphrase) ? "the recovery code or the passphrase" : "the recovery code"
        context.terminal.say("The key file is not in it either. On another machine it opens by \(other).")
      }
    }

    /// Whether the agent would take the file for one of its own.
    private static func isReserved(_ file: String, folder: String) -> Bool {
      var (target, own) = (stat(), stat())
      return FileBytes.name(of: file).hasPrefix("vault.") && stat(FileBytes.folder(of: file), &target) == 0
        && stat(folder, &own) == 0 && target.st_ino == own.st_ino && target.st_dev == own.st_dev
    }
  }

  struct Check: ContextCommand {
    static let configuration = CommandConfiguration(
      abstract: "Reads every page, seal and slot of the vault, or of a backup.",
      discussion:
        "A copy of the vault that is open is compared with it: a vault.db that was copied by itself is good, and "
        + "may lack the last changes.\nExample: oauthctl vault check ~/backup/vault.db")
    @Argument(help: "A backup; without it, the vault.", completion: .file()) var file: String?
    @Flag(help: "Opens the backup by its passphrase.") var passphrase = false
    @Flag(help: "Opens the backup by its recovery code.") var recoveryCode = false
    @Flag(help: "Prints JSON.") var json = false
    @OptionGroup var verbosity: Verbosity

    func run(_ context: CommandContext) throws(CommandError) {
      guard !(passphrase && recoveryCode) else { throw .usage("--passphrase or --recovery-code, not both") }
      guard file != nil || !passphrase && !recoveryCode else {
        throw .usage(
          "\(passphrase ? "--passphrase" : "--recovery-code") opens a backup: its file is missing",
          next: .run("oauthctl vault check   # the vault itself, without an option"))
      }
      let answer: VaultCheckAnswer
      var unread: String?
      if let file { (answer, unread) = try check(file, context) } else { answer = try check(context) }
      if json { context.terminal.data(JSONText.pretty(answer)) }
      let damaged = answer.slots.filter { !$0.intact }
      for slot in damaged {
        context.terminal.warn("slot \(slot.number) (\(slot.kind?.words ?? "a later version")) is damaged or missing")
      }
      if !damaged.isEmpty { throw .silent(status: 5) }
      if json { return }
      context.terminal.say(
        "Good: \(count(answer.records, "record")), \(count(answer.slots.count, "way")) to open it, all intact.")
      if answer.lacksKeyFile == true {
        let others = answer.slots.compactMap { $0.kind == .keyFile ? nil : $0.kind?.words }
        context.terminal.say(
          "No key file here opens it" + (others.isEmpty ? "." : ": its \(others.joined(separator: " or its ")) does."))
      }
      if let remark = Self.remark(answer, unread: unread) { context.terminal.say(remark) }
    }

    /// How a copy compares with the open vault. `unread` is the log that lies beside it: a `vault.db` without its log is
    /// whole, and as old as the last time that it was folded in.
    static func remark(_ copy: VaultCheckAnswer, unread: String?) -> String? {
      let unread = unread.map { "\($0), which lies beside it, was not read" }
      guard let vault = copy.vault else { return unread.map { "\($0), and may hold further changes." } }
      let changes = count(abs(vault.commit - copy.commit), "change")
      let records = count(vault.records, "record")
      guard copy.commit < vault.commit else { return "It is \(changes) ahead of the vault here, which has \(records)." }
      // Each refresh is one, so a backup is behind soon.
      let why =
        unread ?? "logins and refreshes since it was made, or a vault.db that was copied without its vault.db-wal"
      return
        "It is \(changes) behind the vault, which has \(records): \(why). "
        + "A copy with all of them: oauthctl vault backup FILE"
    }

    private func check(_ context: CommandContext) throws(CommandError) -> VaultCheckAnswer {
      _ = try VaultSecrets(context: context).openVault()
      return try context.agent.call(AgentWire.VaultCheck(), timeoutMilliseconds: VaultSecrets.patienceMilliseconds)
    }

    /// The agent may not see what the user sees: it is given a copy beside the vault. `unread` is the log beside `file`,
    /// which it is not given.
    private func check(
      _ file: String, _ context: CommandContext
    ) throws(CommandError) -> (VaultCheckAnswer, unread: String?) {
      let secrets = VaultSecrets(context: context)
      let status = try context.agent.ask(VaultStatusRequest())
      guard status.state != .absent else {
        throw .local("there is no vault here that could open it", next: .run("oauthctl vault create"), status: 5)
      }
      if status.state == .open, FileBytes.areOne(file, status.path) { return (try check(context), nil) }
      let folder = FileBytes.folder(of: status.path)
      let copy = CopyToCheck.path(in: folder)
      let request = AgentWire.VaultCheck(
        path: copy, passphrase: passphrase ? try secrets.passphrase() : nil,
        recoveryCode: recoveryCode ? try secrets.recoveryCode() : nil)
      CopyToCheck.removeLeftovers(in: folder)
      let held = try FileBytes.copy(file, to: copy, limit: AgentWire.VaultCheck.maximumFileBytes)
      defer {
        unlink(copy)
        close(held)
      }
      do throws(CommandError) {
        let answer = try context.agent.call(request, timeoutMilliseconds: VaultSecrets.patienceMilliseconds)
        if status.state != .open, answer.openedBy != "vault_key" {
          context.terminal.say(
            "The vault here is not open, so the copy is not compared with it: it may lack the last changes.")
        }
        return (answer, FileBytes.logBeside(file))
      } catch {
        guard case .agent(var failure, let account) = error else { throw error }
        if failure.kind == .storageFailed, access(copy, F_OK) != 0 {
          // The agent leaves no copy lying about then, since it may open by what opens the vault no more.
          throw .local(
            "the vault was locked or changed while \(file) was given to the agent, which took the copy away",
            next: .run("oauthctl vault check \(ShellWord.quoted(file))"), status: 3)
        }
        if failure.kind == .vaultDamaged {
          failure.message = "\(file): \(failure.message)"
          throw .agent(failure, account: account)
        }
        guard
          [.keyMissing, .notPermitted, .vaultLocked, .badRequest].contains(failure.kind)
        else { throw error }
        // What the live vault would need opens no copy.
        let command = "oauthctl vault check \(ShellWord.quoted(file))"
        throw error.advising(.run("\(command) --recovery-code   # or --passphrase, as it was when the copy was made"))
      }
    }
  }
}

/// `1 record`, `2 records`.
private func count(_ number: Int, _ word: String) -> String { "\(number) \(word)\(number == 1 ? "" : "s")" }

extension FileBytes {
  /// The log of SQLite's that lies beside the database `file` and holds changes that are not in it; nil: there is none.
  fileprivate static func logBeside(_ file: String) -> String? {
    var found = stat()
    return stat(file + "-wal", &found) == 0 && found.st_size > 0 ? file + "-wal" : nil
  }

  /// Whether two paths lead to the same file.
  fileprivate static func areOne(_ path: String, _ other: String) -> Bool {
    var (found, also) = (stat(), stat())
    return stat(path, &found) == 0 && stat(other, &also) == 0 && found.st_dev == also.st_dev
      && found.st_ino == also.st_ino
  }

  /// Copies a file of at most `limit` bytes under a new name, whole or not at all, mode 0600, durably. The copy is locked
  /// until the caller closes the descriptor that is returned.
  static func copy(_ source: String, to target: String, limit: Int) throws(CommandError) -> Int32 {
    try copy(source, to: target, takingAway: false) { count throws(CommandError) in
      guard count <= limit else {
        throw .local("\(source) has \(count >> 20) MiB: more than the \(limit >> 20) that a copy may have", status: 3)
      }
    }
  }

  /// The same with a file of `byteCount` bytes, and the source is gone whatever comes of it.
  static func move(_ source: String, to target: String, byteCount: Int) throws(CommandError) -> Int32 {
    try copy(source, to: target, takingAway: true) { count throws(CommandError) in
      guard count == byteCount else {
        throw .local("\(source) has \(count) bytes, not the \(byteCount) that the agent wrote", status: 3)
      }
    }
  }

  /// Whether `path` still leads to what `descriptor` is of.
  static func leads(_ path: String, to descriptor: Int32) -> Bool {
    var (found, own) = (stat(), stat())
    return lstat(path, &found) == 0 && fstat(descriptor, &own) == 0 && found.st_dev == own.st_dev
      && found.st_ino == own.st_ino
  }

  private static func copy(
    _ source: String, to target: String, takingAway: Bool, judge: (Int) throws(CommandError) -> Void
  ) throws(CommandError) -> Int32 {
    func failure(_ step: String) -> CommandError { .local("cannot \(step): \(errorText())", status: 3) }
    let input = open(source, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard input >= 0 else { throw failure("open \(source)") }
    defer { close(input) }
    // Now, so that nothing stays when this process is killed.
    if takingAway { unlink(source) }
    var found = stat()
    guard fstat(input, &found) == 0, found.st_mode & S_IFMT == S_IFREG else {
      throw .local("\(source) is not a file", status: 3)
    }
    try judge(Int(found.st_size))
    let draft = try Draft(for: target)
    var left = Int(found.st_size)
    while let some = readSome(from: input, limit: 256 << 10) {
      left -= some.count
      guard left >= 0, !some.isEmpty || left == 0 else {
        throw .local("\(source) was changed while it was read", status: 3)
      }
      if some.isEmpty {
        // The same open file, and with it the lock, outlives the draft.
        let held = fcntl(draft.descriptor, F_DUPFD_CLOEXEC, 0)
        guard held >= 0 else { throw failure("write \(target)") }
        guard draft.publish() else {
          let error = failure("write \(target)")
          close(held)
          throw error
        }
        return held
      }
      guard writeAll(some, to: draft.descriptor) else { throw failure("write \(target)") }
    }
    throw failure("read \(source)")
  }

  /// A file that gets its name when it is whole. Until then it has none, where the file system can do that: a kill leaves
  /// nothing. It is locked as long as it is open: whoever finds it knows that somebody is at work on it. Where locks cannot
  /// be had it is removed too early, and its check fails.
  private struct Draft: ~Copyable {
    let descriptor: Int32
    private let target: String
    /// Nil: it has none.
    private let name: String?

    init(for target: String) throws(CommandError) {
      self.target = target
      let folder = FileBytes.folder(of: target)
      let unnamed = clinux_open_unnamed(folder)
      if unnamed >= 0 {
        descriptor = unnamed
        name = nil
        _ = clinux_try_lock_exclusive(descriptor)
        return
      }
      let name = "\(target).\(getpid()).tmp"
      descriptor = PrivateCreation.openFile(name, O_WRONLY | O_EXCL | O_CLOEXEC | O_NOFOLLOW)
      self.name = name
      guard descriptor >= 0 else {
        throw .local("cannot create \(target): \(errorText())", status: 3)
      }
      _ = clinux_try_lock_exclusive(descriptor)
    }

    deinit {
      guard descriptor >= 0 else { return }
      close(descriptor)
      if let name { unlink(name) }
    }

    /// Durably. False, with errno, where the name is taken meanwhile: a rename would replace it.
    borrowing func publish() -> Bool {
      guard fsync(descriptor) == 0 else { return false }
      if let name {
        // FAT and exFAT know no hard links.
        guard clinux_rename_new(name, target) == 0 || link(name, target) == 0 else { return false }
      } else {
        let source = "/proc/self/fd/\(descriptor)"
        guard linkat(AT_FDCWD, source, AT_FDCWD, target, AT_SYMLINK_FOLLOW) == 0 else { return false }
      }
      let folder = open(FileBytes.folder(of: target), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard folder >= 0 else { return true }
      defer { close(folder) }
      return fsync(folder) == 0
    }
  }
}
