import Glibc

/// Where a vault's files are. All paths are absolute.
package struct VaultLocation: Equatable, Sendable {
  /// Folder of `vault.db` and `vault.lock`; made with mode 0700.
  package let directory: String
  /// The key file of slot 1.
  package let keyFile: String
  /// Remembers the last commit, outside of the vault's folder.
  package let counterFile: String
  /// Folders of ours for what the vault could not write, each with what is kept there below it; on other file systems, as far as
  /// there are any.
  package let asideDirectories: [String]
  /// Whether a network file system is taken on the user's word.
  package let allowsNetworkFileSystem: Bool
  /// Where the database and the key file are when no variable names other folders.
  package let usual: Usual

  package struct Usual: Equatable, Sendable {
    var database: String?
    var keyFile: String?

    package init(database: String? = nil, keyFile: String? = nil) {
      self.database = database
      self.keyFile = keyFile
    }
  }

  package init(
    directory: String, keyFile: String, counterFile: String, asideDirectories: [String] = [],
    allowsNetworkFileSystem: Bool = false, usual: Usual = Usual()
  ) {
    self.directory = directory
    self.keyFile = keyFile
    self.counterFile = counterFile
    self.asideDirectories = asideDirectories
    self.allowsNetworkFileSystem = allowsNetworkFileSystem
    self.usual = usual
  }

  /// What is said about a database that is gone, and about a missing key file.
  var gone: VaultError { .gone(path: databaseFile, usual: Self.present(usual.database, beside: databaseFile)) }
  var keyMissing: VaultError { .keyMissing(path: keyFile, usual: Self.present(usual.keyFile, beside: keyFile)) }

  private static func present(_ usual: String?, beside path: String) -> String? {
    guard let usual, usual != path, access(usual, F_OK) == 0 else { return nil }
    return usual
  }

  /// Where answers wait that came for a locked vault: the first folder lasts over a reboot, the second is there for a disk
  /// that takes nothing.
  var lateAnswerDirectories: [String] {
    let state = PrivateDirectory.parent(of: counterFile)
    return ([state] + ownDirectories.filter { $0 != state }).map { $0 + "/letters" }
  }

  /// Where records are kept aside.
  var spillDirectories: [String] { ownDirectories.map { $0 + "/spill" } }

  /// In a folder for all, somebody else may have been the first to make one of that name.
  private var ownDirectories: [String] { asideDirectories.filter { !PrivateDirectory.isAnothers($0) } }

  /// The database itself.
  package var databaseFile: String { directory + "/" + VaultLocation.databaseName }

  static let databaseName = "vault.db"
  /// A database that is being made.
  static let draftName = databaseName + ".new"
  /// A backup that is being made. Whole, it gets a name of its own, which is this one, a point and 16 hex digits.
  static let backupName = "vault.backup"
  /// A copy of a backup, while it is checked.
  static let checkName = "vault.check"
  /// The one that `oauthctl` gives for it, followed by its process id.
  static let givenPrefix = "vault.given."
  static let lockName = "vault.lock"
  /// There while the user has locked the vault.
  static let holdName = "vault.held"
  /// There from before a new recovery code counts until it is handed on.
  static let untoldCodeName = "vault.untold"
  /// There from before the slots are changed until nothing is left of what they were.
  static let purgeDueName = "vault.purge"
}

/// What a slot is opened with.
package enum SlotKind: UInt32, Equatable, Sendable {
  case keyFile = 1
  case recoveryCode = 2
  case passphrase = 3

  /// The number of the one slot of this kind.
  var slotNumber: UInt32 { rawValue }
}

/// The vault's condition, for `status`. Holds no secret.
package struct VaultStatus: Equatable, Sendable {
  package enum State: Equatable, Sendable {
    /// No vault has been made.
    case absent
    /// There is one, not opened yet.
    case closed
    case open
    /// Locked by the user.
    case locked
    /// The last try to open it failed.
    case failed(VaultError)
  }

  package struct Slot: Equatable, Sendable {
    package let number: UInt32
    /// Nil: of a later version.
    package let kind: SlotKind?
    /// False: this way in is damaged, although the vault opened by another. True also where nothing could be compared,
    /// while the vault is locked.
    package let isIntact: Bool
    /// What Argon2id costs; zeros for a key file.
    package var passes: UInt32 = 0
    package var memoryKiB: UInt32 = 0
  }

  package var state: State
  /// Absolute path of the database.
  package var path: String
  /// Empty where the database could not be read.
  package var slots: [Slot]
  /// Why the file that slot 1 needs does not open it: that is not there, or not as it was written. Nil also where there is no
  /// vault.
  package var keyFileFault: VaultError?
  /// The key of the last rekey could not take the place of the one before, and opens the vault from where it waits.
  package var isKeyFileWaiting = false
  /// Names the vault, by its place and by what opens it.
  package var digest = ""
  /// `noRoom` while the disk has none for what a server may answer, or for what is kept aside in memory.
  package var roomProblem: VaultError?
  /// Whether records are kept aside in memory alone.
  package var isKeptInMemory = false
  /// Nil until opened.
  package var recordCount: Int?
  /// Number of the last commit; nil until opened.
  package var commit: UInt64?
  /// Whether the kernel locked the pages of all keys against swap; nil until opened.
  package var isMemoryLocked: Bool?
  /// Set when the vault is older than this machine remembers, until `acceptRollback`.
  package var rollback: Rollback?
  /// Names what the vault holds then, in hex: two may be as old as each other.
  package var rollbackDigest: String?
  /// What is wrong with the commit counter outside of the vault; rollbacks may go unseen.
  package var counterProblem: String?
  /// The problem is that it was missing, or another vault's, and has been made anew.
  package var isCounterMadeAnew = false
  /// Why what a change of the slots replaced, a key file for instance, may still be there.
  package var purgeProblem: String?
  /// Why nothing can be written to the vault.
  package var filesProblem: String?
  /// What was written last is kept by this process alone: a log or slots that were taken away and cannot be put back, or records
  /// that no place takes.
  package var isAloneWithLast = false
  /// Whether the agent was killed between making the recovery code and handing it on: perhaps nobody knows it. False
  /// until opened.
  package var isCodeUntold = false
}
