import Dispatch
import Glibc
import Sealing

/// The files of late answers, in the first of these folders that takes them: a file each, `TAG-NUMBER`.
///
/// TAG tells which late answers are for the same record and nothing else; NUMBER counts up, so the greatest is the newest.
struct LateAnswerFolders {
  /// Absolute.
  let paths: [String]
  let vaultID: [UInt8]

  /// Files of one record: a locked account gets an answer or two, so more are a fault, and must not fill the disk.
  static let maximumPerRecord = 64
  /// Files in all: each of the requests under way at a lock leaves one, and no person locks a hundred times unopened.
  static let maximumInAll = 4_096

  private static let queue = DispatchQueue(label: "oauthctl.letters")

  /// Runs `body` while nobody else reads or writes the folders. For threads that may wait for a disk.
  static func alone<Result>(_ body: () throws(VaultError) -> Result) throws(VaultError) -> Result {
    let result = queue.sync { Swift.Result { () throws(VaultError) in try body() } }
    return try result.get()
  }

  /// The same on a thread that may wait.
  static func aloneElsewhere(_ body: @escaping @Sendable () throws(VaultError) -> Void) async throws(VaultError) {
    let result = await withCheckedContinuation { (done: CheckedContinuation<Result<Void, VaultError>, Never>) in
      queue.async { done.resume(returning: Result { () throws(VaultError) in try body() }) }
    }
    try result.get()
  }

  /// One late answer's file.
  struct File: Hashable {
    let folder: String
    let tag: String
    let number: UInt64

    var name: String { tag + "-" + Hex.encode(withUnsafeBytes(of: number.bigEndian) { Array($0) }) }
    var path: String { folder + "/" + name }

    init(folder: String, tag: String, number: UInt64) {
      self.folder = folder
      self.tag = tag
      self.number = number
    }

    /// Nil for a name that no late answer has.
    init?(folder: String, name: String) {
      let parts = name.split(separator: "-", omittingEmptySubsequences: false)
      guard parts.count == 2, parts[0].utf8.count == LateAnswerFolders.tagCount * 2, parts[1].utf8.count == 16,
        Hex.decode(String(parts[0])) != nil, let number = UInt64(parts[1], radix: 16)
      else { return nil }
      self.init(folder: folder, tag: String(parts[0]), number: number)
      guard self.name == name else { return nil }
    }
  }

  /// Bytes of a tag: two records never share one.
  private static let tagCount = 16

  func tag(of record: RecordID) -> String {
    Hex.encode(
      Digest.sha256(Array("oauthctl.letter.1".utf8) + vaultID + record.bytes).prefix(LateAnswerFolders.tagCount))
  }

  /// Every late answer's file, oldest first. Throws where a folder cannot be looked at that may have some.
  func files() throws(VaultError) -> [File] {
    var files: [File] = []
    for path in paths { files += try SealedFile.names(in: path).compactMap { File(folder: path, name: $0) } }
    return files.sorted { ($0.number, $0.path) < ($1.number, $1.path) }
  }

  /// Seals and writes one more late answer, durably. Throws when there are as many as there may be, unless `isCopy`.
  func write(
    _ payload: Secret, for record: RecordID, to publicKey: SealedBox.PublicKey, isCopy: Bool = false
  ) throws(VaultError) -> File {
    // What cannot be looked at counts when they are read.
    let files = (try? files()) ?? []
    let tag = tag(of: record)
    guard isCopy || files.count < LateAnswerFolders.maximumInAll else {
      throw .storageFailed("\(files.count) answers wait for the vault to be opened already; unlock it")
    }
    let ofRecord = files.count { $0.tag == tag }
    guard isCopy || ofRecord < LateAnswerFolders.maximumPerRecord else {
      throw .storageFailed("\(ofRecord) answers of one account wait for the vault to be opened already; unlock it")
    }
    let (number, isAtEnd) = (files.last?.number ?? 0).addingReportingOverflow(1)
    guard !isAtEnd else { throw .storageFailed("no number is left for a late answer") }
    let sealed = try LateAnswer.seal(payload, for: record, number: number, vaultID: vaultID, to: publicKey)
    var failure = VaultError.storageFailed("there is no place to keep an answer for a locked vault")
    for (index, path) in paths.enumerated() {
      let file = File(folder: path, tag: tag, number: number)
      do throws(VaultError) {
        _ = try PrivateDirectory.make(PrivateDirectory.parent(of: path), isSecret: false)
        let folder = try PrivateDirectory.make(path, isSecret: true)
        try PrivateFile.create(in: folder, file.name, file.path, sealed)
        return file
      } catch { if index == 0 { failure = error } }
    }
    throw failure
  }

  /// The late answer's bytes; nil where there is no file, or one that is too large to be an agent's.
  func read(_ file: File) throws(VaultError) -> [UInt8]? {
    try SealedFile.read(file.path, limit: LateAnswer.maximumCount)
  }

  /// Durable when it returns. None there is no error.
  func remove(_ files: some Sequence<File>) throws(VaultError) {
    for (path, files) in Dictionary(grouping: files, by: \.folder) {
      guard let folder = try PrivateDirectory.open(path, isSecret: true) else { continue }
      for file in files where unlinkat(folder.number, file.name, 0) != 0 && errno != ENOENT {
        throw .system("unlink", file.path)
      }
      guard folder.flush() else { throw .system("fsync", path) }
    }
  }

  /// What a kill left half-written.
  func removeDrafts() {
    for path in paths {
      guard let folder = try? PrivateDirectory.open(path, isSecret: true),
        let names = try? PrivateDirectory.names(in: folder, path)
      else { continue }
      for name in names where name.hasSuffix(".new") && File(folder: path, name: String(name.dropLast(4))) != nil {
        _ = unlinkat(folder.number, name, 0)
      }
    }
  }
}
