import CSQLite

/// A value bound to a statement.
enum SQLiteValue {
  case integer(Int64)
  case text(String)
  case blob([UInt8])
}

/// One connection of one thread. Every statement is prepared, bound, stepped to its end and finalised in one call, and
/// every result code is judged.
final class SQLiteConnection {
  /// Nil once it is closed: every call is refused then.
  private(set) var handle: OpaquePointer?

  /// SQLite would take 20 pages at once, and never give one back.
  private static let isSparing = csqlite_without_page_reserve() == SQLITE_OK

  /// Opens the existing file at `path` (absolute) for reading and writing.
  init(path: String) throws(SQLiteFailure) {
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE
    _ = Self.isSparing
    var handle: OpaquePointer?
    let code = sqlite3_open_v2(path, &handle, flags, nil)
    guard code == SQLITE_OK, let handle else {
      let failure = SQLiteFailure(code, handle, during: "open")
      sqlite3_close_v2(handle)
      throw failure
    }
    self.handle = handle
    // 48 KB that would be touched at once, where SQLite is built with it (Debian's is not), and that no heap wipes.
    csqlite_without_lookaside(handle)
  }

  deinit { close() }

  /// Closes it, whoever still has a reference to it.
  func close() {
    sqlite3_close_v2(handle)
    handle = nil
  }

  /// Sets one of the SQLITE_DBCONFIG switches.
  func configure(_ option: Int32, _ isOn: Bool) throws(SQLiteFailure) {
    let code = handle.map { csqlite_db_config($0, option, isOn ? 1 : 0) } ?? SQLITE_MISUSE
    guard code == SQLITE_OK else { throw SQLiteFailure(code, handle, during: "configure") }
  }

  /// Lowers one of the SQLITE_LIMIT bounds.
  func limit(_ limit: Int32, to value: Int32) {
    if let handle { sqlite3_limit(handle, limit, value) }
  }

  /// Runs `sql` (one statement) and hands every row to `body`. A row is valid during the call only.
  func rows(
    _ sql: String, _ values: [SQLiteValue] = [], _ body: (borrowing SQLiteRow) throws(SQLiteFailure) -> Void
  ) throws(SQLiteFailure) {
    guard let handle else { throw SQLiteFailure(SQLITE_MISUSE, nil, during: "a call on a closed database") }
    var statement: OpaquePointer?
    let code = sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
    guard code == SQLITE_OK, let statement else { throw SQLiteFailure(code, handle, during: "prepare") }
    // Its result repeats that of the last step, which has been judged.
    defer { sqlite3_finalize(statement) }
    for (index, value) in values.enumerated() { try bind(value, to: statement, at: Int32(index + 1)) }
    while true {
      let code = sqlite3_step(statement)
      if code == SQLITE_DONE { return }
      guard code == SQLITE_ROW else { throw SQLiteFailure(code, handle, during: "step") }
      try body(SQLiteRow(statement: statement))
    }
  }

  /// Runs `sql`, which gives no rows that matter.
  func run(_ sql: String, _ values: [SQLiteValue] = []) throws(SQLiteFailure) {
    try rows(sql, values) { _ in }
  }

  /// Rows the last INSERT, UPDATE or DELETE changed.
  var changedRowCount: Int { handle.map { Int(sqlite3_changes($0)) } ?? 0 }

  /// The one text a pragma answers; nil when it answers nothing.
  func pragmaText(_ pragma: String) throws(SQLiteFailure) -> String? {
    var answer: String?
    try rows("PRAGMA \(pragma)") { (row) throws(SQLiteFailure) in answer = try row.text(0) }
    return answer
  }

  /// The one integer a pragma answers; nil when it answers nothing.
  func pragmaInteger(_ pragma: String) throws(SQLiteFailure) -> Int64? {
    var answer: Int64?
    try rows("PRAGMA \(pragma)") { (row) throws(SQLiteFailure) in answer = try row.integer(0) }
    return answer
  }

  /// Runs `body` in one write transaction: all of it is durable when this returns, or none is there.
  func transaction(_ body: () throws(SQLiteFailure) -> Void) throws(SQLiteFailure) {
    try run("BEGIN IMMEDIATE")
    do throws(SQLiteFailure) {
      try body()
      try run("COMMIT")
    } catch {
      // Fails where SQLite has rolled back by itself already; the first failure is the one that counts.
      if let handle, sqlite3_get_autocommit(handle) == 0 { try? run("ROLLBACK") }
      throw error
    }
  }

  private func bind(_ value: SQLiteValue, to statement: OpaquePointer, at index: Int32) throws(SQLiteFailure) {
    // SQLITE_TRANSIENT: SQLite copies the bytes during the call.
    let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    let code =
      switch value {
      case .integer(let integer): sqlite3_bind_int64(statement, index, integer)
      case .text(let text): sqlite3_bind_text(statement, index, text, Int32(clamping: text.utf8.count), copies)
      case .blob(let bytes) where bytes.isEmpty: sqlite3_bind_zeroblob(statement, index, 0)
      case .blob(let bytes): sqlite3_bind_blob64(statement, index, bytes, UInt64(bytes.count), copies)
      }
    guard code == SQLITE_OK else { throw SQLiteFailure(code, handle, during: "bind") }
  }
}

/// The row a statement stands on. A column of another type than asked for is a failure, never converted.
struct SQLiteRow: ~Copyable {
  fileprivate let statement: OpaquePointer

  borrowing func integer(_ column: Int32) throws(SQLiteFailure) -> Int64 {
    guard sqlite3_column_type(statement, column) == SQLITE_INTEGER else { throw unexpected(column, "an integer") }
    return sqlite3_column_int64(statement, column)
  }

  borrowing func text(_ column: Int32) throws(SQLiteFailure) -> String {
    guard sqlite3_column_type(statement, column) == SQLITE_TEXT, let text = sqlite3_column_text(statement, column)
    else { throw unexpected(column, "text") }
    let count = Int(sqlite3_column_bytes(statement, column))
    return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
  }

  borrowing func blob(_ column: Int32) throws(SQLiteFailure) -> [UInt8] {
    guard sqlite3_column_type(statement, column) == SQLITE_BLOB else { throw unexpected(column, "bytes") }
    guard let start = sqlite3_column_blob(statement, column) else { return [] }
    return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
  }

  private borrowing func unexpected(_ column: Int32, _ wanted: String) -> SQLiteFailure {
    let name = sqlite3_column_name(statement, column).map { String(cString: $0) } ?? "\(column)"
    return SQLiteFailure(unexpected: "column \(name) does not hold \(wanted)")
  }
}
