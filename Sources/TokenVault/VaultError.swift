import Glibc
import SystemFacts

/// Why the vault did not do what it was asked. No text holds a secret.
package enum VaultError: Error, Equatable, Sendable {
  /// Another process holds the vault. `pid` is 0 and `socket` nil where the holder did not say.
  case inUse(pid: Int32, socket: String?)
  /// There is a vault, but no key file at `path`. The recovery code opens it; a new vault is never made instead.
  /// `usual`: where there is one, in the folder that is taken when no variable names another.
  case keyMissing(path: String, usual: String? = nil)
  /// Bytes are not as they were written: `part` decides what helps, `what` names the place for people.
  case damaged(_ part: DamagedPart = .contents, what: String)
  /// A copy that neither the open vault's key nor the key file opens: from before a rekey, or another vault's.
  case otherKey
  /// A file that is no vault.
  case noVault(path: String)
  /// No vault has been made: there is nothing to change or to check.
  case absent
  /// There was a vault at `path`, and its file is not there any more. None is made in its place unless somebody asks for it.
  /// `usual`: as for `keyMissing`.
  case gone(path: String, usual: String? = nil)
  /// The user locked the vault; it stays so until `unlock`.
  case locked
  /// A file or folder that others could read, change or swap. `fix` says what to do, as a command where there is one.
  case unsafePermissions(path: String, fix: String)
  /// A file or folder that has to be the user's own, and is another's.
  case othersOwn(path: String, owner: UInt32, user: UInt32)
  /// Others may read or change it: this mode, for chmod(1), keeps them out.
  case openToOthers(path: String, chmod: String)
  /// A folder in which the user himself may not read and write.
  case closedToOwner(path: String)
  /// A file that the user himself may not read.
  case unreadable(path: String)
  /// The vault's folder is on a network file system, where locks and fsync cannot be trusted.
  case networkFileSystem(path: String)
  /// The operating system or SQLite refused; the text names the operation and its error.
  case storageFailed(String)
  /// The same where the disk of `folder` is full; nil: nobody said which folder it is.
  case noRoom(folder: String?, String)
  /// The vault was written in a format this program does not know.
  case wrongFormat(found: UInt32, supported: UInt32)
  /// The vault is older than this machine remembers. Opening does not throw it (see `VaultStatus.rollback`): it is for
  /// those who refuse a refresh because of it.
  case rolledBack(Rollback)
  /// This rollback was to be accepted by somebody who was shown another one.
  case rollbackChanged(Rollback)
  /// The recovery code is mistyped, or is not this vault's.
  case invalidRecoveryCode
  /// The passphrase is not this vault's.
  case wrongPassphrase
  /// A vault with a passphrase was to be changed by somebody who did not give it.
  case passphraseNeeded
  /// This slot cannot be carried over as it is; set anew it can.
  case slotDamaged(SlotKind)
  /// The slots are not those that a secret was proved of: somebody changed them meanwhile.
  case slotsChanged
  /// A person was shown another vault at `path`, or one that opens in other ways: see ``VaultStatus/digest``.
  case otherThanShown(path: String)
  /// A passphrase that is too short or too long.
  case unusablePassphrase
  /// No slot of this kind.
  case noSuchSlot(SlotKind)
  /// Without this slot the vault would open by the recovery code alone, or not at all.
  case slotNeeded(SlotKind)
  /// There is a vault already at `path`.
  case alreadyExists(path: String)
  /// A put whose version is not greater than the one stored.
  case staleVersion(stored: UInt64)
  /// Another program has put another vault in the place of the open one, at `path`. See ``RecordStore/replacement()``.
  case replaced(path: String)
  /// More than four callers wait for a password hash.
  case tooManyUnlocks
  /// Several wrong passphrases or codes in a row: none is hashed before this time is over.
  case tooManyTries(retryAfterMilliseconds: Int)
}

package enum DamagedPart: Sendable, Equatable {
  /// A key slot: another one opens the vault, and mends this one.
  case slot
  /// At this path: the vault may be whole, and another slot opens it.
  case keyFile(path: String)
  /// Anything else: only a backup helps.
  case contents
}

extension VaultError {
  /// The database at `path` cannot be looked at: it is gone only where the system says just that. One in a folder that is
  /// closed for a while is still there.
  static func unseen(_ path: String, _ code: Int32 = errno) -> VaultError {
    switch code {
    case ENOENT, ENOTDIR: .gone(path: path)
    case EACCES: .closedToOwner(path: PrivateDirectory.parent(of: path))
    default: .storageFailed("stat \(path): \(String(cString: strerror(code)))")
    }
  }

  /// Whether a vault whose key is in memory may open by itself when it is tried again.
  var mayPass: Bool {
    switch self {
    case .gone, .noRoom, .storageFailed, .replaced: true
    default: false
    }
  }

  /// Whether what is missing is in the usual folder.
  package var isElsewhere: Bool {
    switch self {
    case .gone(_, .some), .keyMissing(_, .some): true
    default: false
    }
  }

  /// What is wrong with the file or folder at `path`, for a text that goes on.
  func reason(_ path: String) -> String {
    switch self {
    case .storageFailed(let why), .noRoom(_, let why): why
    case .replaced(let path): "another program changed \(path) while it was open"
    case .unsafePermissions(let path, let fix): "\(path) could be read or changed by others: \(fix)"
    case .othersOwn(let path, let owner, let user):
      "\(path) \(FileOwner.reason(owner)): \(FileOwner.remedy(ShellWord.quoted(path), for: user))"
    case .openToOthers(let path, let mode):
      "\(path) could be read or changed by others: chmod \(mode) \(ShellWord.quoted(path))"
    case .unreadable(let path): "you may not read \(path): chmod 600 \(ShellWord.quoted(path))"
    case .closedToOwner(let path): "you may not read and write in \(path): chmod 700 \(ShellWord.quoted(path))"
    default: "\(path): \(self)"
    }
  }
}

/// How far back a vault is, in commits.
package struct Rollback: Equatable, Sendable {
  /// The vault's own last commit. Greater than `expected` when something was written since the rollback was found.
  package let found: UInt64
  /// The last commit this machine remembered then; where it did not, one that was greater than the vault's.
  package let expected: UInt64
  package var cause = Cause.older

  package enum Cause: Equatable, Sendable {
    /// The commit counter says so, or a rekey since does.
    case older
    /// The counter is not there to say that it is not. The text tells what became of it.
    case counterLost(String)
    /// The counter is there and cannot be read, for which the text has the cause. It is read again when somebody asks.
    case counterUnreadable(String)
  }
}
