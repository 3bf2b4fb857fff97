import CSQLite
import Glibc

/// `vault.db`: opened, judged, read and written. Knows rows and seals, no keys.
final class VaultDatabase {
  let connection: SQLiteConnection
  let path: String
  let identity: FileIdentity
  /// Of the log that SQLite has open; it is there from the first reading to the close.
  let logIdentity: FileIdentity?
  /// As they were found and written: the log after each commit, both after each fold.
  var written: WrittenFile?
  var writtenLog: WrittenFile?
  let vaultID: [UInt8]

  /// Tells the file from another that takes its name.
  struct FileIdentity: Equatable {
    let device: dev_t
    let inode: ino_t

    init?(_ path: String) {
      var status = stat()
      guard lstat(path, &status) == 0 else { return nil }
      device = status.st_dev
      inode = status.st_ino
    }
  }

  /// Sealed values are bounded by what one record or the catalogue can reach.
  private static let maximumValueCount: Int32 = 16 * 1_048_576

  /// Bytes of a statement, those of the tables in the file among them: ours have less than 300.
  private static let maximumStatementCount: Int32 = 4_096

  /// Bytes of a log that is folded into the database.
  static let longestLog = 1 << 20

  /// Eight pages: what a commit touches. The system's cache holds the rest.
  private static let cacheKiB: Int64 = 32

  /// Opens the vault in `directory`, whose lock the caller holds; nil when there is none. Changes nothing in it.
  /// Throws `damaged`, `wrongFormat`, `unsafePermissions`, `storageFailed`.
  static func open(in directory: borrowing FileDescriptor, path: String) throws(VaultError) -> VaultDatabase? {
    guard try isPresent(in: directory, VaultLocation.databaseName, path: path) else { return nil }
    return try VaultDatabase(path: path)
  }

  /// Whether there is a vault; checks its files before SQLite touches any.
  static func isPresent(in directory: borrowing FileDescriptor, path: String) throws(VaultError) -> Bool {
    try isPresent(in: directory, VaultLocation.databaseName, path: path)
  }

  /// Opens another database of the vault's folder, as one of the vault's own.
  static func open(
    in directory: borrowing FileDescriptor, _ name: String, path: String
  ) throws(VaultError) -> VaultDatabase {
    guard try isPresent(in: directory, name, path: path) else { throw .storageFailed("\(path) vanished") }
    return try VaultDatabase(path: path)
  }

  private static func isPresent(
    in directory: borrowing FileDescriptor, _ name: String, path: String
  ) throws(VaultError) -> Bool {
    let log = try PrivateFile.status(in: directory, name + "-wal", path + "-wal")
    if try PrivateFile.status(in: directory, name + "-journal", path + "-journal") != nil {
      throw .damaged(what: "database: \(path)-journal is there, which no agent writes")
    }
    guard let status = try PrivateFile.status(in: directory, name, path) else {
      // SQLite would delete the log of a database that is not there.
      if log != nil { throw .damaged(what: "database: \(path) is gone, its log is not") }
      return false
    }
    guard status.st_size >= 512 else { throw .damaged(what: "database: cut short") }
    return true
  }

  /// Throws `noVault` for a file that is no SQLite database.
  static func checkKind(in directory: borrowing FileDescriptor, _ name: String, path: String) throws(VaultError) {
    let magic = Array("SQLite format 3".utf8) + [0]
    guard let file = try PrivateFile.open(in: directory, name, path, flags: O_RDONLY) else { return }
    var first = [UInt8](repeating: 0, count: magic.count)
    let count = first.withUnsafeMutableBytes { pread(file.number, $0.baseAddress, $0.count, 0) }
    guard count == magic.count, first == magic else { throw .noVault(path: path) }
  }

  /// Throws unless the tables stand on the first page, and are as many as they should be, and every page is whole. To be
  /// called before SQLite opens the file of a stranger: it reads every table's definition into memory before anything can be
  /// asked of it.
  static func checkFirstPage(
    in directory: borrowing FileDescriptor, _ name: String, path: String
  ) throws(VaultError) {
    guard let file = try PrivateFile.open(in: directory, name, path, flags: O_RDONLY) else {
      throw .storageFailed("\(path) vanished")
    }
    guard let header = file.read(count: 108) else { throw .system("read", path) }
    // One that is cut short is named so when it is opened.
    guard header.count == 108 else { return }
    // The page's kind (a leaf of a table), and how many cells it has.
    guard header[100] == 13, header[103] == 0, header[104] == VaultFormat.tables.count else {
      throw .damaged(what: "database: its tables")
    }
    // SQLite takes a last page that is cut short for one that ends in zeros.
    let pageSize = Int(header[16]) << 8 | Int(header[17])
    guard let status = file.status(), pageSize > 0, status.st_size % pageSize == 0 else {
      throw .damaged(what: "database: cut short, or something lies behind it")
    }
  }

  private init(path: String) throws(VaultError) {
    guard let identity = FileIdentity(path) else { throw .system("stat", path) }
    self.identity = identity
    self.path = path
    // Before it is judged: a change while that lasts is noticed with the next look.
    written = WrittenFile(path)
    let connection = try judged { () throws(SQLiteFailure) in
      let connection = try SQLiteConnection(path: path)
      try VaultDatabase.harden(connection)
      return connection
    }
    try VaultDatabase.checkFormat(connection)
    vaultID = try judged { () throws(SQLiteFailure) in
      try VaultDatabase.checkStructure(connection)
      let id = try VaultDatabase.meta("vault_id", in: connection)
      guard id.count == VaultFormat.vaultIDCount else { throw SQLiteFailure(unexpected: "vault id of another length") }
      return id
    }
    self.connection = connection
    logIdentity = FileIdentity(path + "-wal")
    writtenLog = WrittenFile(path + "-wal")
  }

  /// Sets what protects the connection, and reads back what durability depends on.
  private static func harden(_ connection: SQLiteConnection) throws(SQLiteFailure) {
    connection.limit(SQLITE_LIMIT_LENGTH, to: maximumValueCount)
    connection.limit(SQLITE_LIMIT_SQL_LENGTH, to: maximumStatementCount)
    connection.limit(SQLITE_LIMIT_ATTACHED, to: 0)
    connection.limit(SQLITE_LIMIT_TRIGGER_DEPTH, to: 1)
    try connection.configure(SQLITE_DBCONFIG_DEFENSIVE, true)
    try connection.configure(SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)
    try connection.configure(SQLITE_DBCONFIG_ENABLE_TRIGGER, false)
    try connection.configure(SQLITE_DBCONFIG_ENABLE_VIEW, false)
    // Until everything has been judged, closing must leave the log as it was found.
    try connection.configure(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
    try set(connection, "locking_mode", "EXCLUSIVE", reads: "exclusive")
    try set(connection, "synchronous", "FULL", reads: 2)
    try set(connection, "secure_delete", "ON", reads: 1)
    try set(connection, "cell_size_check", "ON", reads: 1)
    try set(connection, "temp_store", "MEMORY", reads: 2)
    try set(connection, "mmap_size", "0", reads: nil)
    // Reading it whole at the start would leave the 2 MB that are its default in memory.
    try set(connection, "cache_size", "-\(cacheKiB)", reads: -cacheKiB)
    // ``commit(_:catalogue:)`` does it, where nobody else has written to the database.
    try set(connection, "wal_autocheckpoint", "0", reads: 0)
  }

  static func set(
    _ connection: SQLiteConnection, _ pragma: String, _ value: String, reads expected: String
  ) throws(SQLiteFailure) {
    _ = try connection.pragmaText("\(pragma)=\(value)")
    guard try connection.pragmaText(pragma) == expected else {
      throw SQLiteFailure(SQLITE_MISUSE, nil, during: "PRAGMA \(pragma)=\(value) did not take")
    }
  }

  static func set(
    _ connection: SQLiteConnection, _ pragma: String, _ value: String, reads expected: Int64?
  ) throws(SQLiteFailure) {
    try connection.run("PRAGMA \(pragma)=\(value)")
    guard let expected else { return }
    guard try connection.pragmaInteger(pragma) == expected else {
      throw SQLiteFailure(SQLITE_MISUSE, nil, during: "PRAGMA \(pragma)=\(value) did not take")
    }
  }

  private static func checkFormat(_ connection: SQLiteConnection) throws(VaultError) {
    let (application, format) = try judged { () throws(SQLiteFailure) in
      (try connection.pragmaInteger("application_id"), try connection.pragmaInteger("user_version"))
    }
    guard application == VaultFormat.applicationID else { throw .damaged(what: "database: not marked as a vault") }
    guard format != Int64(VaultFormat.version) else { return }
    // A program of another version says so in two places; one alone is damage.
    let inside = try judged { () throws(SQLiteFailure) in try meta("format", in: connection) }
    guard let format, inside == encodedFormat(UInt32(truncatingIfNeeded: format)) else {
      throw .damaged(what: "database: its format number")
    }
    throw .wrongFormat(found: UInt32(truncatingIfNeeded: format), supported: VaultFormat.version)
  }

  /// Reads every page, from the disk: what SQLite remembers of them says nothing about that. Throws `damaged`.
  func checkStructure() throws(VaultError) {
    try judged { () throws(SQLiteFailure) in
      try connection.run("PRAGMA shrink_memory")
      try VaultDatabase.checkStructure(connection)
    }
  }

  private static func checkStructure(_ connection: SQLiteConnection) throws(SQLiteFailure) {
    guard try connection.pragmaText("journal_mode") == "wal" else {
      throw SQLiteFailure(unexpected: "its journal mode is not WAL")
    }
    var problem: String?
    try connection.rows("PRAGMA integrity_check(1)") { (row) throws(SQLiteFailure) in
      let text = try row.text(0)
      // The first line names the database.
      if text != "ok" { problem = text.split(separator: "\n").last.map(String.init) ?? text }
    }
    if let problem { throw SQLiteFailure(unexpected: "its structure: \(problem)") }
    var tables: [String] = []
    try connection.rows("SELECT type, name, coalesce(sql, '') FROM sqlite_schema ORDER BY name") {
      (row) throws(SQLiteFailure) in
      tables.append("\(try row.text(0)) \(try row.text(1)) \(try row.text(2))")
    }
    guard tables == VaultFormat.tables.map({ "table \($0.name) \($0.sql)" }) else {
      throw SQLiteFailure(unexpected: "its tables")
    }
    guard try meta("format", in: connection) == encodedFormat(VaultFormat.version) else {
      throw SQLiteFailure(unexpected: "its format number")
    }
    var names: [String] = []
    try connection.rows("SELECT name FROM meta ORDER BY name LIMIT 4") { (row) throws(SQLiteFailure) in
      names.append(try row.text(0))
    }
    guard names == ["catalogue", "format", "vault_id"] else { throw SQLiteFailure(unexpected: "its meta rows") }
  }

  static func meta(_ name: String, in connection: SQLiteConnection) throws(SQLiteFailure) -> [UInt8] {
    var value: [UInt8]?
    try connection.rows("SELECT value FROM meta WHERE name = ?", [.text(name)]) { (row) throws(SQLiteFailure) in
      value = try row.blob(0)
    }
    guard let value else { throw SQLiteFailure(unexpected: "no meta row \(name)") }
    return value
  }

  static func encodedFormat(_ format: UInt32) -> [UInt8] {
    var writer = ByteWriter()
    writer.integer(format)
    return writer.bytes
  }
}
