import CSQLite
import Glibc

/// The log that SQLite writes before the database (`vault.db-wal`), and what others do to the two files.
extension VaultDatabase {
  /// Throws when the file was removed or replaced since it was opened: what SQLite writes now would be lost.
  func checkStillThere() throws(VaultError) {
    guard let found = FileIdentity(path) else { throw .unseen(path) }
    guard found == identity else { throw replaced }
  }

  var replaced: VaultError { .replaced(path: path) }

  /// Whether no other program has written to the database itself, or set the time of its last write.
  var isContentAsWritten: Bool {
    guard let written, let now = WrittenFile(path) else { return false }
    return now.isContent(of: written)
  }

  /// Removes a log that is none of this database's.
  func removeLog(in directory: borrowing FileDescriptor) throws(VaultError) {
    guard unlinkat(directory.number, VaultLocation.databaseName + "-wal", 0) == 0 || errno == ENOENT else {
      throw .system("unlink", path + "-wal")
    }
  }

  /// Whether its log was removed or replaced since it was opened: what SQLite writes now is gone with the process.
  var hasLostLog: Bool { logIdentity != nil && FileIdentity(path + "-wal") != logIdentity }

  /// Whether no other program has written to its files.
  var isAsWritten: Bool { WrittenFile(path) == written && WrittenFile(path + "-wal") == writtenLog }

  /// Writes the log, of which this connection has the only descriptor left, under its name again, durably. What lies there now
  /// is removed. Where this fails nothing has changed, and it may be tried again. Throws, too, where the database is not there
  /// any more: it would be the log of another one.
  func restoreLog(in directory: borrowing FileDescriptor) throws(VaultError) {
    try checkStillThere()
    let name = VaultLocation.databaseName + "-wal"
    guard let logIdentity, let log = logIdentity.openDescriptor() else {
      throw .storageFailed("\(path)-wal was removed, and is not open any more")
    }
    guard unlinkat(directory.number, name + ".new", 0) == 0 || errno == ENOENT else {
      throw .system("unlink", path + "-wal.new")
    }
    let flags = O_WRONLY | O_CREAT | O_EXCL
    guard let copy = try PrivateFile.open(in: directory, name + ".new", path + "-wal.new", flags: flags) else {
      throw .system("create", path + "-wal.new")
    }
    var offset: off_t = 0
    while true {
      let count = sendfile(copy.number, log, &offset, 1 << 20)
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else {
        let failure = VaultError.system("write", path + "-wal")
        // It would take room that others need.
        _ = unlinkat(directory.number, name + ".new", 0)
        throw failure
      }
      if count == 0 { break }
    }
    guard copy.flush() else { throw .system("fsync", path + "-wal") }
    guard renameat(directory.number, name + ".new", directory.number, name) == 0 else {
      throw .system("rename to", path + "-wal")
    }
    guard directory.flush() else { throw .system("fsync the folder of", path) }
  }

  /// Called once everything has been judged: from now on closing folds the log into the database.
  func allowCheckpoints(_ isAllowed: Bool) throws(VaultError) {
    try judged { () throws(SQLiteFailure) in
      try connection.configure(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !isAllowed)
    }
  }

  /// Writes every page of the log into the database and empties the log, durably. After a failed fsync the log's pages
  /// may be clean in memory and absent on disk: no commit may follow them before this has worked.
  func foldLog() throws(VaultError) {
    try judged { () throws(SQLiteFailure) in
      var isBusy: Int64 = 1
      try connection.rows("PRAGMA wal_checkpoint(TRUNCATE)") { (row) throws(SQLiteFailure) in
        isBusy = try row.integer(0)
      }
      guard isBusy == 0 else { throw SQLiteFailure(SQLITE_BUSY, nil, during: "checkpoint") }
    }
    (written, writtenLog) = (WrittenFile(path), WrittenFile(path + "-wal"))
  }

  /// Leaves nothing of what was deleted or replaced in the log and in the database's free pages. Durable when it returns.
  func purge() throws(VaultError) {
    try foldLog()
    try judged { () throws(SQLiteFailure) in
      // VACUUM attaches the database that it writes to.
      connection.limit(SQLITE_LIMIT_ATTACHED, to: 1)
      defer { connection.limit(SQLITE_LIMIT_ATTACHED, to: 0) }
      try connection.run("VACUUM")
    }
    try foldLog()
  }
}

extension VaultDatabase.FileIdentity {
  /// A descriptor of this process that has the file open. It stays its owner's.
  fileprivate func openDescriptor() -> Int32? {
    (0..<getdtablesize()).first { number in
      var status = stat()
      return fstat(number, &status) == 0 && status.st_dev == device && status.st_ino == inode
    }
  }
}
