import AgentWire
import ArgumentParser

extension VaultStrength: ExpressibleByArgument {}

extension VaultCommand {
  struct Slots: ContextCommand {
    static let configuration = CommandConfiguration(
      abstract: "Lists the ways to open the vault.", discussion: "Example: oauthctl vault slots")
    @Flag(help: "Prints JSON.") var json = false
    @OptionGroup var verbosity: Verbosity

    func run(_ context: CommandContext) throws(CommandError) {
      let answer = try context.agent.ask(VaultSlots())
      if json { return context.terminal.data(JSONText.pretty(answer)) }
      if answer.slots.isEmpty { _ = try VaultSecrets(context: context).openVault() }
      context.terminal.page(Self.table(answer.slots).lines(width: context.terminal.columns))
    }

    static func table(_ slots: [VaultSlotsAnswer.Slot]) -> Table {
      Table(
        columns: [
          .init(title: "SLOT", dropOrder: 2), .init(title: "OPENS WITH", dropOrder: 0),
          .init(title: "A GUESS COSTS", dropOrder: 1), .init(title: "", dropOrder: 0),
        ],
        rows: slots.map { slot in
          let cost = slot.passes.flatMap { passes in slot.memoryKiB.map { "\(passes) × \($0 / 1_024) MiB" } }
          return ["\(slot.number)", slot.kind?.words ?? "a later version", cost ?? "-", slot.intact ? "" : "damaged"]
        })
    }
  }

  struct PassphraseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "passphrase", abstract: "Sets, changes and removes the vault's passphrase.",
      subcommands: [Set.self, Change.self, Remove.self])

    struct Set: ContextCommand {
      static let configuration = CommandConfiguration(
        abstract: "Sets a passphrase, typed twice or from standard input.",
        discussion: "Example: oauthctl vault passphrase set")
      @Option(help: "Cost of a guess: interactive (64 MiB), moderate (256 MiB), sensitive (256 MiB, 4 times as long).")
      var strength: VaultStrength = .moderate
      @OptionGroup var verbosity: Verbosity

      func run(_ context: CommandContext) throws(CommandError) {
        let secrets = VaultSecrets(context: context)
        let status = try secrets.openVault()
        if status.has(.passphrase) {
          throw .local("the vault has a passphrase", next: .run("oauthctl vault passphrase change"), status: 5)
        }
        let answer = try context.change(
          VaultSetSlot(
            kind: .passphrase, passphrase: try secrets.newPassphrase(), strength: strength,
            vaultDigest: status.vaultDigest))
        context.terminal.say("The passphrase is set.")
        context.warnOfTrouble()
        if answer.slots.contains(where: { $0.kind == .keyFile }) {
          context.terminal.warn(
            "the key file still opens the vault without it", next: .run("oauthctl vault key-file remove"))
        }
      }
    }

    struct Change: ContextCommand {
      static let configuration = CommandConfiguration(
        abstract: "Changes the passphrase. Standard input: the current one, or the recovery code, then the new one.",
        discussion: "Example: oauthctl vault passphrase change")
      @Option(help: "Cost of a guess: interactive (64 MiB), moderate (256 MiB), sensitive (256 MiB, 4 times as long).")
      var strength: VaultStrength = .moderate
      @OptionGroup var verbosity: Verbosity

      func run(_ context: CommandContext) throws(CommandError) {
        let secrets = VaultSecrets(context: context)
        let current = try secrets.current()
        guard let secret = current.secret else {
          throw .local("the vault has no passphrase", next: .run("oauthctl vault passphrase set"), status: 5)
        }
        _ = try context.change(
          VaultSetSlot(
            kind: .passphrase, passphrase: try secrets.newPassphrase(), current: secret, strength: strength,
            vaultDigest: current.vaultDigest))
        context.terminal.say(
          "The passphrase is changed. The old one opens backups made before; after a leak: oauthctl vault rekey")
        context.warnOfTrouble()
      }
    }

    struct Remove: ContextCommand {
      static let configuration = CommandConfiguration(
        abstract: "Removes the passphrase.", discussion: "Example: oauthctl vault passphrase remove")
      @OptionGroup var verbosity: Verbosity

      func run(_ context: CommandContext) throws(CommandError) {
        try context.remove(.passphrase)
        context.terminal.say("The vault has no passphrase any more.")
        context.warnOfTrouble()
      }
    }
  }

  struct KeyFileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "key-file", abstract: "Adds and removes the file that opens the vault without a person.",
      subcommands: [Add.self, Remove.self])

    struct Add: ContextCommand {
      static let configuration = CommandConfiguration(
        abstract: "Lets a key file open the vault.", discussion: VaultSecrets.help("oauthctl vault key-file add"))
      @OptionGroup var verbosity: Verbosity

      func run(_ context: CommandContext) throws(CommandError) {
        let current = try VaultSecrets(context: context).current()
        _ = try context.change(VaultSetSlot(kind: .keyFile, current: current.secret, vaultDigest: current.vaultDigest))
        context.terminal.say("The key file opens the vault.")
        context.warnOfTrouble()
      }
    }

    struct Remove: ContextCommand {
      static let configuration = CommandConfiguration(
        abstract: "Removes the key file: from then on only what somebody knows opens the vault.",
        discussion: VaultSecrets.help("oauthctl vault key-file remove"))
      @OptionGroup var verbosity: Verbosity

      func run(_ context: CommandContext) throws(CommandError) {
        try context.remove(.keyFile)
        context.terminal.say(
          "The vault is sealed: the key file is gone. After every start of the agent: oauthctl vault unlock")
        context.warnOfTrouble()
      }
    }
  }

  struct RecoveryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "recovery", abstract: "Renews and removes the recovery code.",
      subcommands: [Renew.self, Remove.self])

    struct Renew: ContextCommand {
      static let configuration = CommandConfiguration(
        abstract: "Prints a new recovery code; the old one opens nothing but backups made before.",
        discussion: VaultSecrets.help("oauthctl vault recovery renew"))
      @OptionGroup var verbosity: Verbosity

      func run(_ context: CommandContext) throws(CommandError) {
        let current = try VaultSecrets(context: context).current()
        let answer = try context.change(
          VaultSetSlot(
            kind: .recoveryCode, current: current.secret, confirmsCode: true, vaultDigest: current.vaultDigest))
        if let code = answer.recoveryCode { try context.showRecoveryCode(code) }
        context.terminal.say(
          "The old one still opens backups made before, but not this vault; after a leak: oauthctl vault rekey")
        context.warnOfTrouble()
      }
    }

    struct Remove: ContextCommand {
      static let configuration = CommandConfiguration(
        abstract: "Removes the recovery code.",
        discussion: """
          It opens backups made before all the same.
          Example: oauthctl vault recovery remove
          """)
      @Flag(name: .shortAndLong, help: "Does not ask.") var yes = false
      @OptionGroup var verbosity: Verbosity

      func run(_ context: CommandContext) throws(CommandError) {
        let shown = try VaultSecrets(context: context).openVault()
        let rest = shown.words(without: .recoveryCode)
        if !yes {
          try context.terminal.agree(
            "Remove it? What then opens the vault: \(rest).",
            otherwise: .run("oauthctl vault recovery remove --yes")
          )
        }
        try context.remove(.recoveryCode, of: shown.vaultDigest)
        context.terminal.say("The vault has no recovery code any more.")
        context.warnOfTrouble()
      }
    }
  }

  struct Rekey: ContextCommand {
    static let configuration = CommandConfiguration(
      abstract: "Seals everything anew under a new key, with a new recovery code and, where there is one, key file.",
      discussion: """
        What to do when the vault, its key file or its recovery code may have been copied. A passphrase stays.
        \(VaultSecrets.help("oauthctl vault rekey"))
        """)
    @OptionGroup var verbosity: Verbosity

    func run(_ context: CommandContext) throws(CommandError) {
      let current = try VaultSecrets(context: context).current()
      let hasKeyFile = try context.agent.ask(VaultStatusRequest()).has(.keyFile)
      let answer = try context.change(
        VaultRekey(passphrase: current.secret, confirmsCode: true, vaultDigest: current.vaultDigest))
      context.terminal.say(
        "Every record is sealed with a new key. The recovery code\(hasKeyFile ? " and the key file" : "") of before "
          + "open\(hasKeyFile ? "" : "s") older backups, but not this vault.")
      if let code = answer.recoveryCode { try context.showRecoveryCode(code) }
      context.warnOfTrouble()
    }
  }
}

extension CommandContext {
  /// Asks with the patience that hashing wants.
  fileprivate func change<P: RequestParameters>(_ parameters: P) throws(CommandError) -> P.Answer {
    try agent.call(parameters, timeoutMilliseconds: VaultSecrets.patienceMilliseconds)
  }

  /// Tells what is wrong with the vault after a change that was made.
  fileprivate func warnOfTrouble() {
    guard let status = try? agent.ask(VaultStatusRequest()), let trouble = status.trouble else { return }
    terminal.warn(trouble, next: status.remedy)
  }

  /// `vaultDigest`: of the vault that a question was about.
  fileprivate func remove(_ kind: VaultSlotKind, of vaultDigest: String? = nil) throws(CommandError) {
    let current = try VaultSecrets(context: self).current()
    _ = try change(
      VaultRemoveSlot(kind: kind, current: current.secret, vaultDigest: vaultDigest ?? current.vaultDigest))
  }
}

extension VaultSlotKind {
  var words: String {
    switch self {
    case .keyFile: "key file"
    case .recoveryCode: "recovery code"
    case .passphrase: "passphrase"
    }
  }
}
