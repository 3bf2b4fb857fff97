import AgentWire
import ArgumentParser

struct VaultCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "vault", abstract: "Locks, unlocks, protects, copies and checks the vault.",
    subcommands: [
      Status.self, Lock.self, Unlock.self, Slots.self, PassphraseCommand.self, KeyFileCommand.self,
      RecoveryCommand.self,
      Rekey.self, Backup.self, Check.self, AcceptRollback.self, Create.self,
    ])

  struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Shows whether the vault is open, and where it is.", discussion: "Example: oauthctl vault status")
    @Flag(help: "Prints JSON.") var json = false
    @OptionGroup var verbosity: Verbosity

    func run() throws { try run(.live()) }

    func run(_ bench: Workbench) throws(CommandError) {
      let answer = try bench.agent.ask(VaultStatusRequest())
      if json {
        bench.terminal.data(JSONText.pretty(answer))
      } else {
        bench.terminal.data(StatusPage.vaultText(answer))
        if !answer.slots.isEmpty { bench.terminal.data("opens with  \(answer.slotWords)") }
        bench.terminal.data("path        " + PrintableText.escaped(bench.surroundings.abbreviated(answer.path)))
      }
      if answer.recoveryCodeUntold == true {
        bench.terminal.warn(answer.untoldWords, run: "oauthctl vault recovery renew")
      }
      if let trouble = answer.trouble {
        bench.terminal.warn(trouble, run: answer.remedy?.line)
      }
    }
  }

  struct Lock: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Locks the vault: the agent forgets every key and token until it is unlocked.",
      discussion: """
        Token requests under way are waited for, so that no login is lost; meanwhile nobody is given a token.
        Example: oauthctl vault lock
        """)
    @Flag(help: "Prints JSON.") var json = false
    @OptionGroup var verbosity: Verbosity

    func run() throws { try run(.live()) }

    func run(_ bench: Workbench) throws(CommandError) {
      let answer = try bench.agent.call(VaultLock(), timeoutMilliseconds: 90_000)
      if json { bench.terminal.data(JSONText.pretty(answer)) }
      if answer.state == .absent { return bench.terminal.say("There is no vault yet: nothing to lock.") }
      bench.terminal.say("The vault is locked.")
      if !answer.drained {
        bench.terminal.warn(
          "something was still under way after a minute; a refresh token that comes later is kept sealed", run: nil)
      }
      if !answer.sealed {
        let hasPassphrase = try bench.agent.ask(VaultStatusRequest()).has(.passphrase)
        bench.terminal.warn(
          "this is a hold, not a seal: the key file on this machine still opens the vault. A vault with a passphrase "
            + "and without a key file is sealed",
          run: "oauthctl vault unlock && \(hasPassphrase ? "" : "oauthctl vault passphrase set && ")"
            + "oauthctl vault key-file remove")
      }
    }
  }

  struct Unlock: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Opens the vault with its key file, a passphrase or the recovery code.",
      discussion: """
        Without an option it uses the key file where that opens the vault, else the passphrase, else the recovery code.
        Example: oauthctl vault unlock
        """)
    @Flag(help: "Asks for the passphrase.") var passphrase = false
    @Flag(help: "Asks for the recovery code; a lost key file is written again.") var recoveryCode = false
    @OptionGroup var verbosity: Verbosity

    func run() throws { try run(.live()) }

    func run(_ bench: Workbench) throws(CommandError) {
      guard !(passphrase && recoveryCode) else { throw .usage("--passphrase or --recovery-code, not both", run: nil) }
      let status = try bench.agent.ask(VaultStatusRequest())
      if status.state == .absent { throw .local("there is no vault yet", run: "oauthctl login NAME ISSUER", status: 5) }
      try status.checkThere()
      var answer = try byKeyFile(status, bench)
      if answer == nil { answer = try bySecret(status, bench) }
      if let answer {
        let words = recoveryCode ? "vault open, by its recovery code" : StatusPage.vaultText(answer)
        bench.terminal.say("Now: \(words).")
        if status.lacksKeyFile, answer.has(.keyFile) {
          bench.terminal.say("The key file, which was lost, is written anew.")
        }
      }
      if let answer, recoveryCode, answer.has(.passphrase) {
        bench.terminal.say(
          "If the passphrase is forgotten: `oauthctl vault passphrase change` takes the recovery code in its place.")
      }
    }

    /// Nil where a person is needed.
    private func byKeyFile(_ status: VaultStatusAnswer, _ bench: Workbench) throws(CommandError) -> VaultStatusAnswer? {
      guard !recoveryCode, !passphrase, status.has(.keyFile) else {
        if status.lacksKeyFile, !recoveryCode, !passphrase { bench.terminal.say("The vault's key file is not there.") }
        return nil
      }
      do throws(CommandError) { return try bench.agent.ask(VaultUnlock()) } catch {
        guard case .agent(let failure, _) = error, failure.kind == .keyMissing else { throw error }
        bench.terminal.say(failure.message)
        return nil
      }
    }

    private func bySecret(_ status: VaultStatusAnswer, _ bench: Workbench) throws(CommandError) -> VaultStatusAnswer {
      let secrets = VaultSecrets(bench: bench)
      let byPassphrase = passphrase || (!recoveryCode && status.has(.passphrase))
      let request =
        byPassphrase
        ? VaultUnlock(passphrase: try secrets.passphrase()) : VaultUnlock(recoveryCode: try secrets.recoveryCode())
      do throws(CommandError) {
        // The key is stretched on purpose: this takes its time.
        return try bench.agent.call(request, timeoutMilliseconds: VaultSecrets.patienceMilliseconds)
      } catch {
        // Wrong, and perhaps forgotten.
        guard byPassphrase, status.has(.recoveryCode), case .agent(let failure, _) = error,
          failure.kind == .vaultLocked
        else { throw error }
        throw error.advising("type it again, or use the recovery code: oauthctl vault unlock --recovery-code")
      }
    }
  }

  struct Create: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Makes the vault before the first login does, and prints its recovery code.",
      discussion: """
        With --anew also where the vault that was here is gone, and will not be put back: every login in it has to be made \
        again.
        Example: oauthctl vault create > recovery-code.txt
        """)
    @Flag(help: "Makes a new vault even if the file of the old one is gone.") var anew = false
    @Flag(name: .shortAndLong, help: "Does not ask.") var yes = false
    @OptionGroup var verbosity: Verbosity

    func run() throws { try run(.live()) }

    func run(_ bench: Workbench) throws(CommandError) {
      let status = anew ? try bench.agent.ask(VaultStatusRequest()) : nil
      if let status, status.gone == true, !yes {
        guard
          try bench.terminal.confirm(
            "Begin anew, without the logins that were in it?", about: status.reason.map { [$0] } ?? [],
            otherwise: "oauthctl vault create --anew --yes")
        else { throw .declined }
      }
      let answer = try bench.agent.ask(VaultCreate(anew: status?.gone))
      guard answer.created, let code = answer.recoveryCode else {
        throw .local("there is a vault already", run: "oauthctl vault status", status: 5)
      }
      try bench.terminal.showRecoveryCode(code)
    }
  }

  struct AcceptRollback: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "accept-rollback",
      abstract: "Accepts a vault that is older than the last one this machine used.",
      discussion: """
        Do it after you put a backup back. Refresh tokens that were used since are dead; a server may then end the login.
        Example: oauthctl vault accept-rollback
        """)
    @Flag(name: .shortAndLong, help: "Does not ask.") var yes = false
    @OptionGroup var verbosity: Verbosity

    func run() throws { try run(.live()) }

    func run(_ bench: Workbench) throws(CommandError) {
      let status = try VaultSecrets(bench: bench).openVault()
      guard status.rolledBack == true else {
        return bench.terminal.say("Nothing to accept: \(StatusPage.vaultText(status)).")
      }
      let lines =
        (status.reason.map { [$0] } ?? []) + [
          "Logins that were refreshed since, here or on another machine, may end with the next refresh, there too."
        ]
      if yes {
        bench.terminal.say(lines)
      } else {
        guard
          try bench.terminal.confirm(
            "Refresh with what it holds?", about: lines, otherwise: "oauthctl vault accept-rollback --yes")
        else { throw .declined }
      }
      _ = try bench.agent.ask(VaultAcceptRollback(found: status.rollbackFound, expected: status.rollbackExpected))
      bench.terminal.say("Accepted.")
    }
  }
}

extension VaultStatusAnswer {
  /// What is wrong where `recoveryCodeUntold` says so.
  var untoldWords: String { "its recovery code may have been shown to nobody" }

  var lacksKeyFile: Bool { slots.contains("\(VaultSlotKind.keyFile.rawValue) (missing)") }

  /// Throws where there was a vault that is gone, or one that cannot be read: nothing opens or changes it.
  func checkThere() throws(CommandError) {
    if gone == true { throw .local(reason ?? "the vault is gone", run: remedy?.text, status: 5) }
    guard [.failed, .inUse].contains(state) else { return }
    throw .local(reason ?? StatusPage.vaultText(self), run: remedy?.text, status: 6)
  }

  /// What is not as it should be, in one line; nil: nothing.
  var trouble: String? { reason ?? (state == .locked ? "nobody is given a token until it is unlocked" : nil) }

  /// What a person has to do before tokens are served and refreshed again; nil: nothing.
  var remedy: Finding.Fix? {
    switch state {
    case .absent: return nil
    case .open:
      guard rolledBack == true else { return nil }
      // Of a counter that cannot be read, which is mended otherwise.
      return hint.map { Finding.Fix(step: $0) } ?? .run("oauthctl vault accept-rollback   # if you put a backup back")
    case .locked: return .run("oauthctl vault unlock")
    case .keyMissing where hint != nil: return hint.map { Finding.Fix(step: $0) }
    case .keyMissing:
      // By the passphrase, where it has one: a person knows that, and has the code elsewhere.
      let how = has(.passphrase) ? " && \(VaultCheck.repair(.keyFile))" : " --recovery-code"
      return .run("oauthctl vault unlock\(how)")
    // It looks who that is.
    case .inUse: return .run("oauthctl doctor")
    case .damaged where gone == true:
      return hint.map { Finding.Fix(step: $0) }
        ?? .advice(
          "put it back, or a backup of it; to begin anew without what was in it: oauthctl vault create --anew")
    case .damaged where reason?.contains("slot 1:") == true: return .run("oauthctl vault unlock --recovery-code")
    case .damaged: return .run("oauthctl agent stop   # then put a backup in place of \(path)")
    case .failed: return hint.map { Finding.Fix(step: $0) } ?? .run("oauthctl doctor")
    }
  }

  /// Whether the vault has an undamaged slot of this kind, as far as that can be told.
  func has(_ kind: VaultSlotKind) -> Bool { slots.contains(kind.rawValue) }

  /// What opens it, for people.
  var slotWords: String { Self.words(slots) }

  /// What is left to open it without one of them.
  func words(without kind: VaultSlotKind) -> String { Self.words(slots.filter { !$0.hasPrefix(kind.rawValue) }) }

  private static func words(_ slots: [String]) -> String {
    slots.map { PrintableText.escaped(String($0.map { $0 == "_" ? " " : $0 })) }.joined(separator: ", ")
  }
}

extension Terminal {
  /// `byLogin`: of a vault that a login has made, whose own output it is no part of. Else the code alone is data; the words
  /// about it are not.
  func showRecoveryCode(_ code: String, byLogin: Bool = false) throws(CommandError) {
    if byLogin {
      return say([
        "Made a vault for your logins. Its recovery code, shown only now:", "  \(code)",
        "Keep it in a safe place: it opens the vault if the key file is ever lost.",
      ])
    }
    say("The vault's recovery code, shown only now. Keep it in a safe place, not on this machine:")
    data(PrintableText.escaped(code))
    do { try Self.checkOutput() } catch {
      throw .local(
        "the recovery code could not be written, and nobody has it now", run: "oauthctl vault recovery renew", status: 1
      )
    }
  }
}
