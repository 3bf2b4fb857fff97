/// What is known of the configuration files, and the readings of them.
struct KnownFiles {
  var readings = FileReadings()
  private(set) var problems = FileProblems()
  /// Where accounts are looked for; nil: nothing was read.
  private(set) var folders: AccountFolders?
  /// Accounts that they define, as far as known while the vault is shut.
  private(set) var lockedCount = 0
  /// What was answered last while the vault was shut; nil: they have changed since.
  var lockedList: LockedList?
  /// Nil: not looked for since the last change.
  var unread: UnreadLogins?
  /// Nil: not looked for since the last change.
  var gone: UnreadLogins?
  /// Where the servers of the definitions are; nil: not known since the last change.
  var hosts: Set<String>?

  /// Takes over what was read while the vault is open (`isServing`), or shut. Returns whether the problems are others.
  mutating func take(_ read: Configuration, isServing: Bool) -> Bool {
    if isServing { folders = read.folders } else { lockedCount = read.definitions.count }
    let before = problems
    problems = FileProblems(read.problems)
    return problems != before
  }

  /// The accounts are forgotten.
  mutating func forgetAccounts() { (unread, gone, hosts) = (nil, nil, nil) }
}
