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

  struct Status: ContextCommand {
    static let configuration = CommandConfiguration(
      abstract: "Shows whether the vault is open, and where it is.", discussion: "Example: oauthctl vault status")
    @Flag(help: "Prints JSON.") var json = false
    @OptionGroup var verbosity: Verbosity

    func run(_ context: CommandContext) throws(CommandError) {
      let answer = try context.agent.ask(VaultStatusRequest())
      if json {
        context.terminal.data(JSONText.pretty(answer))
      } else {
        context.terminal.data(StatusPage.vaultText(answer))
        if !answer.slots.isEmpty { context.terminal.data("opens with  \(answer.slotWords)") }
        context.terminal.data("path        " + PrintableText.escaped(context.environment.abbreviated(answer.path)))
      }
      if answer.recoveryCodeUntold == true {
        context.terminal.warn(answer.untoldWords, next: .run("oauthctl vault recovery renew"))
      }
      if let trouble = answer.trouble {
        context.terminal.warn(trouble, next: answer.remedy ?? (answer.reason == nil ? nil : answer.nextStep))
      }
    }
  }

  struct Lock: ContextCommand {
    static let configuration = CommandConfiguration(
      abstract: "Locks the vault: the agent forgets every key and token until it is unlocked.",
      discussion: """
        Token requests under way are waited for, so that no login is lost; meanwhile nobody is given a token.
        Example: oauthctl vault lock
        """)
    @Flag(help: "Prints JSON.") var json = false
    @OptionGroup var verbosity: Verbosity

    func run(_ context: CommandContext) throws(CommandError) {
      let answer = try lock(context)
      if json { context.terminal.data(JSONText.pretty(answer)) }
      if answer.state == .absent { return context.terminal.say("There is no vault yet: nothing to lock.") }
      context.terminal.say("The vault is locked.")
      if !answer.drained {
        context.terminal.warn(
          "a request or a write had not ended; a refresh token that comes of it later is kept sealed")
      }
      if !answer.sealed {
        // What was asked for is done, also where the agent has ended since.
        let hasPassphrase = (try? context.agent.ask(VaultStatusRequest()))?.has(.passphrase) == true
        context.terminal.warn(
          "this is a hold, not a seal: the key file on this machine still opens the vault. A vault with a passphrase "
            + "and without a key file is sealed",
          next: .run(
            "oauthctl vault unlock && \(hasPassphrase ? "" : "oauthctl vault passphrase set && ")"
              + "oauthctl vault key-file remove"))
      }
    }

    private func lock(_ context: CommandContext) throws(CommandError) -> VaultLockAnswer {
      do throws(CommandError) {
        return try context.agent.call(VaultLock(), timeoutMilliseconds: WireLimits.changeMilliseconds)
      } catch {
        // What could not be kept is told, and the keys are forgotten all the same.
        let state = try? context.agent.ask(VaultStatusRequest()).state
        if state == .locked || state == .damaged { context.terminal.say("The vault is locked.") }
        throw error
      }
    }
  }

  struct Unlock: ContextCommand {
    static let configuration = CommandConfiguration(
      abstract: "Opens the vault with its key file, a passphrase or the recovery code.",
      discussion: """
        Without an option it uses the key file where that opens the vault, else the passphrase, else the recovery code.
        Example: oauthctl vault unlock
        """)
    @Flag(help: "Asks for the passphrase.") var passphrase = false
    @Flag(help: "Asks for the recovery code; a lost key file is written again.") var recoveryCode = false
    @OptionGroup var verbosity: Verbosity

    func run(_ context: CommandContext) throws(CommandError) {
      guard !(passphrase && recoveryCode) else { throw .usage("--passphrase or --recovery-code, not both") }
      let status = try context.agent.ask(VaultStatusRequest())
      if status.state == .absent {
        throw .local("there is no vault yet", next: .run("oauthctl login NAME ISSUER"), status: 5)
      }
      try status.checkThere()
      var answer = try byKeyFile(status, context)
      if answer == nil { answer = try bySecret(status, context) }
      if let answer {
        try answer.checkThere()
        let words = recoveryCode ? "vault open, by its recovery code" : StatusPage.vaultText(answer)
        context.terminal.say("Now: \(words).")
        if let trouble = answer.trouble { context.terminal.warn(trouble, next: answer.remedy ?? answer.nextStep) }
        if status.lacksKeyFile, answer.has(.keyFile) {
          context.terminal.say("The lost key file is written again.")
        }
        if status.otherSlotOpens == true || status.keyFileFault == .damaged, answer.has(.keyFile) {
          context.terminal.say("Its key file opens it again; one that did not is moved aside.")
        }
      }
      if let answer, recoveryCode, answer.has(.passphrase) {
        context.terminal.say(
          "If the passphrase is forgotten: `oauthctl vault passphrase change` takes the recovery code in its place.")
      }
    }

    /// Nil where a person is needed.
    private func byKeyFile(_ status: VaultStatusAnswer, _ context: CommandContext) throws(CommandError)
      -> VaultStatusAnswer?
    {
      guard !recoveryCode, !passphrase, status.has(.keyFile) else {
        if !recoveryCode, !passphrase, let fault = status.keyFileFault {
          context.terminal.say("The vault's key file is \(fault == .missing ? "not there" : "damaged").")
        }
        return nil
      }
      do throws(CommandError) { return try context.agent.ask(VaultUnlock()) } catch {
        guard case .agent(let failure, _) = error, failure.kind == .keyMissing else { throw error }
        context.terminal.say(failure.message)
        return nil
      }
    }

    private func bySecret(_ status: VaultStatusAnswer, _ context: CommandContext) throws(CommandError)
      -> VaultStatusAnswer
    {
      let secrets = VaultSecrets(context: context)
      let byPassphrase = passphrase || (!recoveryCode && status.has(.passphrase))
      do throws(CommandError) {
        return try secrets.retried { () throws(CommandError) in
          let request =
            byPassphrase
            ? VaultUnlock(passphrase: try secrets.passphrase()) : VaultUnlock(recoveryCode: try secrets.recoveryCode())
          // The key is stretched on purpose: this takes its time.
          return try context.agent.call(request, timeoutMilliseconds: VaultSecrets.patienceMilliseconds)
        }
      } catch {
        // The passphrase was wrong, and is perhaps forgotten.
        guard byPassphrase, status.has(.recoveryCode), case .agent(let failure, _) = error,
          failure.kind == .vaultLocked
        else { throw error }
        throw error.advising("run it again, or use the recovery code: oauthctl vault unlock --recovery-code")
      }
    }
  }

  struct Create: ContextCommand {
    static let configuration = CommandConfiguration(
      abstract: "Makes the vault before the first login does, and prints its recovery code.",
      discussion: """
        With --anew it also makes one when the vault that was here is gone for good, or damaged; the files of a damaged one \
        are kept as vault.db.damaged. You then have to log in to every account again.
        Example: oauthctl vault create > recovery-code.txt
        """)
    @Flag(help: "Makes a new vault even if the old one is gone or damaged.") var anew = false
    @Flag(name: .shortAndLong, help: "Does not ask.") var yes = false
    @OptionGroup var verbosity: Verbosity

    func run(_ context: CommandContext) throws(CommandError) {
      let status = anew ? try context.agent.ask(VaultStatusRequest()) : nil
      let damage = status?.state == .open ? VaultCheck.damage(context.agent)?.message : nil
      let isLost = status?.isLost == true || damage != nil
      if isLost, !yes {
        try context.terminal.agree(
          "Make a new vault, without the logins of the old one?", about: [damage ?? status?.reason].compactMap(\.self),
          otherwise: .run("oauthctl vault create --anew --yes"))
      }
      let answer = try context.agent.ask(
        VaultCreate(anew: isLost ? true : nil, confirmsCode: true, vaultDigest: status?.vaultDigest))
      guard answer.created, let code = answer.recoveryCode else {
        throw .local("there is a vault already", next: .run("oauthctl vault status"), status: 5)
      }
      try context.showRecoveryCode(code)
      if isLost {
        context.terminal.say(
          "The new vault opens by its key file. For a passphrase instead: oauthctl vault passphrase set")
      }
    }
  }

  struct AcceptRollback: ContextCommand {
    static let configuration = CommandConfiguration(
      commandName: "accept-rollback",
      abstract: "Accepts a vault that is older than the last one this machine used.",
      discussion: """
        Do it after you put a backup back. Refresh tokens that were used since are dead; a server may then end the login.
        Example: oauthctl vault accept-rollback
        """)
    @Flag(name: .shortAndLong, help: "Does not ask.") var yes = false
    @OptionGroup var verbosity: Verbosity

    func run(_ context: CommandContext) throws(CommandError) {
      let status = try VaultSecrets(context: context).openVault()
      guard status.state == .open else {
        throw .local(status.reason ?? StatusPage.vaultText(status), next: status.remedy, status: 5)
      }
      guard status.rolledBack == true else {
        return context.terminal.say("Nothing to accept: \(StatusPage.vaultText(status)).")
      }
      let lines =
        (status.reason.map { [$0] } ?? []) + [
          "Logins that were refreshed since, here or on another machine, may end with the next refresh, there too."
        ]
      try context.terminal.agree(
        "Refresh with the tokens that it holds?", about: lines, isGiven: yes,
        otherwise: .run("oauthctl vault accept-rollback --yes"))
      _ = try context.agent.ask(
        VaultAcceptRollback(
          found: status.rollbackFound, expected: status.rollbackExpected, digest: status.rollbackDigest,
          vaultDigest: status.vaultDigest))
      context.terminal.say("Accepted.")
    }
  }
}

extension CommandContext {
  /// Shows it once, and tells the agent that a person has it now: until then `vault status` says that nobody does. `byLogin`: of
  /// a vault that a login makes, whose own output it is no part of, below the line that announces it. Else the code alone is
  /// data; the words about it are not.
  func showRecoveryCode(_ code: String, byLogin: Bool = false) throws(CommandError) {
    let isLost: Bool
    if byLogin {
      terminal.say(["  \(code)", "Keep it in a safe place: it opens the vault if the key file is ever lost."])
      isLost = !terminal.errorIsSeen()
    } else {
      terminal.say("The vault's recovery code, shown only now. Keep it in a safe place, not on this machine:")
      terminal.data(PrintableText.escaped(code))
      isLost = Terminal.isOutputLost
    }
    guard !isLost else {
      throw .local(
        "the recovery code could not be written, and nobody has it now", next: .run("oauthctl vault recovery renew"),
        status: 1)
    }
    _ = try? agent.ask(VaultConfirmCode(recoveryCode: code))
  }
}
