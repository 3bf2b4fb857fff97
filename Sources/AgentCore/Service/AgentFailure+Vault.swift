package import AgentWire
import SystemFacts
package import TokenVault

extension AgentFailure {
  /// The wire's word for a vault error.
  package init(_ error: VaultError) {
    switch error {
    case .inUse(0, _):
      self.init(.vaultInUse, "the vault is held by another program", hint: "end what has vault.db open, or wait for it")
    case .inUse(let pid, let socket):
      let place = socket.map { ", socket \($0)" } ?? ""
      self.init(
        .vaultInUse, "the vault is held by another agent (pid \(pid)\(place))",
        hint: socket.map {
          .run("\(SocketLocation.export($0))   # for this shell to use that agent; to end it: kill \(pid)")
        }
          ?? "use that agent, or end it: kill \(pid)")
    case .keyMissing(let path, let usual?):
      self.init(
        .keyMissing, "the vault's key file is \(usual), and is looked for at \(path)",
        hint: .restart(without: "XDG_STATE_HOME"))
    case .keyMissing(let path, nil):
      self.init(
        .keyMissing, "the vault is there and its key file \(path) is not",
        hint: "put the key file back, or open the vault without it: oauthctl vault unlock")
    case .damaged(.keyFile(let path), _):
      self.init(
        .vaultDamaged, "the vault's key file \(path) is damaged",
        hint: .run(
          "oauthctl vault unlock --recovery-code   # that moves it aside and writes a new one; or put a copy of it back"
        ))
    case .damaged(.slot, let what):
      self.init(
        .vaultDamaged, "the vault is damaged: \(what)",
        hint: .run("oauthctl vault unlock --recovery-code   # another slot opens it, and mends this one"))
    case .damaged(.contents, let what):
      self.init(
        .vaultDamaged, "the vault is damaged: \(what)",
        hint: .advice(
          "end the agent (oauthctl agent stop), put a backup over vault.db and remove vault.db-wal "
            + "(oauthctl vault status says where); "
            + "without one: oauthctl vault create --anew, which keeps the damaged files and begins empty"))
    case .otherKey: self.init(.keyMissing, "neither the vault's key nor the key file opens it")
    case .noVault(let path): self.init(.badRequest, "\(path) is no vault")
    case .absent: self.init(.badRequest, "there is no vault yet", hint: .run("oauthctl vault create"))
    case .gone(let path, let usual?):
      self.init(
        .vaultDamaged, "there is no vault at \(path), and there is one at \(usual)",
        hint: .restart(without: "XDG_DATA_HOME"))
    case .gone(let path, nil):
      self.init(
        .vaultDamaged, "the vault's file \(path) is gone; nothing is made in its place",
        hint: "put it back, or a backup of it; to begin anew without what was in it: oauthctl vault create --anew")
    case .locked: self = .vaultLocked
    case .unsafePermissions(let path, let fix):
      self.init(.storageFailed, "\(path) could be read or changed by others", hint: .advice(fix))
    case .othersOwn(let path, let owner, let user):
      self.init(
        .storageFailed, "\(path) \(FileOwner.reason(owner))",
        hint: .run(FileOwner.remedy(ShellWord.quoted(path), for: user)))
    case .openToOthers(let path, let mode):
      self.init(
        .storageFailed, "\(path) could be read or changed by others",
        hint: .run("chmod \(mode) \(ShellWord.quoted(path))"))
    case .unreadable(let path):
      self.init(.storageFailed, "you may not read \(path)", hint: .run("chmod 600 \(ShellWord.quoted(path))"))
    case .closedToOwner(let path):
      self.init(
        .storageFailed, "you may not read and write in \(path)", hint: .run("chmod 700 \(ShellWord.quoted(path))"))
    case .networkFileSystem(let path):
      self.init(
        .storageFailed, "\(path) is on a network file system, where a lock cannot be trusted",
        hint: "set allow_network_home = true in config.toml if only this machine uses it")
    case .storageFailed(let reason):
      self.init(.storageFailed, "the vault could not be read or written: \(reason)", retryAfterMilliseconds: 1_000)
    case .noRoom(let folder, let reason):
      self.init(
        .storageFailed, "the vault could not be read or written: \(reason)",
        hint: folder.map { .advice("make room at \($0)") }, retryAfterMilliseconds: 1_000)
    case .wrongFormat(let found, let supported):
      self.init(
        .vaultDamaged, "the vault has format \(found), and this agent knows \(supported)", hint: "update oauthctl")
    case .rolledBack(let rollback):
      let message =
        switch rollback.cause {
        case .older where rollback.found > rollback.expected:
          "the vault was found older than this machine remembers (commit \(rollback.expected)), and nobody has accepted it"
        case .older:
          "the vault is older (commit \(rollback.found)) than this machine remembers (commit \(rollback.expected))"
        case .counterLost(let why), .counterUnreadable(let why):
          "the vault may be older than it was, and nothing here can tell: \(why)"
        }
      let isUnreadable = if case .counterUnreadable = rollback.cause { true } else { false }
      self.init(
        .vaultDamaged, message,
        hint: isUnreadable
          ? "put that file right: it is read again by itself"
          : "if you put a backup back or moved the vault here, say so: oauthctl vault accept-rollback")
    case .rollbackChanged(let now):
      self.init(
        .notPermitted,
        "the vault was replaced since you were asked: now commit \(now.found) is there, and \(now.expected) was expected; "
          + "nothing was accepted",
        hint: "look at it again: oauthctl vault accept-rollback")
    case .replaced(let path):
      self.init(
        .storageFailed, "another program changed \(path) while it was open", hint: "look at it: oauthctl vault status",
        retryAfterMilliseconds: 1_000)
    case .alreadyExists(let path): self.init(.badRequest, "there is a vault already: \(path)")
    case .staleVersion(let stored): self.init(.internal, "a record's version is not above \(stored)")
    case .invalidRecoveryCode:
      self.init(.vaultLocked, "that is not the recovery code of this vault", hint: "check it for mistyped letters")
    case .wrongPassphrase:
      self.init(.vaultLocked, "that is not the passphrase of this vault", hint: "type it again")
    case .passphraseNeeded:
      self.init(.notPermitted, "this needs the vault's passphrase", hint: "give it, from a terminal or standard input")
    case .slotDamaged(let kind):
      self.init(
        .vaultDamaged, "the slot of the vault's \(kind.words) is damaged: it has to be set anew first",
        hint: .run("oauthctl vault passphrase set"))
    case .otherThanShown(let path):
      self.init(
        .notPermitted, "\(path) is another vault than was shown, or opens in other ways by now: nothing is changed",
        hint: .run("oauthctl vault status"))
    case .slotsChanged:
      self.init(
        .notPermitted, "what opens the vault was changed by somebody else meanwhile: nothing was done",
        hint: "look at it, then do it again: oauthctl vault slots")
    case .unusablePassphrase:
      self.init(
        .badRequest, "a passphrase has \(Vault.passphraseRange.lowerBound) to \(Vault.passphraseRange.upperBound) bytes"
      )
    case .noSuchSlot(let kind):
      self.init(.badRequest, "the vault has no \(kind.words)", hint: .run("oauthctl vault slots"))
    case .slotNeeded(let kind):
      self.init(
        .notPermitted, "the vault keeps its \(kind.words): without it nothing would be left for daily use",
        hint: .run(kind == .passphrase ? "oauthctl vault key-file add" : "oauthctl vault passphrase set"))
    case .tooManyTries(let milliseconds):
      self.init(
        .rateLimited, "too many wrong passphrases or codes in a row", retryAfterMilliseconds: milliseconds)
    case .tooManyUnlocks:
      self.init(.overloaded, "too many callers try to unlock the vault", retryAfterMilliseconds: 1_000)
    }
  }

  package static let vaultLocked = AgentFailure(
    .vaultLocked, "the vault is locked", hint: .run("oauthctl vault unlock"))
}

extension SlotKind {
  package var words: String {
    switch self {
    case .keyFile: "key file"
    case .recoveryCode: "recovery code"
    case .passphrase: "passphrase"
    }
  }
}
