import Glibc
import Sealing
import Testing

@testable import TokenVault

/// Every byte flipped and every length cut of a small vault's files: the vault names the damage, or gives every record
/// as it was. The write-ahead log alone may also bring back an older state, whole and reported as a rollback: SQLite
/// takes a log to end at its first broken frame.
///
/// `VAULT_DAMAGE=every` flips one bit of every byte and cuts at every length, `VAULT_DAMAGE=full` flips every bit too;
/// without it every seventh place is tried, to be quick.
@Suite("The vault survives or names damage", .serialized)
struct DamageTests {
  /// A byte changed, or with no mask a file that ends at `place`.
  struct Damage: Sendable {
    let what: String
    let place: Int
    let mask: UInt8?

    func done(to bytes: [UInt8]) -> [UInt8] {
      guard let mask else { return Array(bytes.prefix(place)) }
      var changed = bytes
      changed[place] ^= mask
      return changed
    }
  }

  struct Count: Sendable {
    var named = 0
    var intact = 0
    var rolledBack = 0
    var wrong: [String] = []

    static func + (left: Count, right: Count) -> Count {
      Count(
        named: left.named + right.named, intact: left.intact + right.intact,
        rolledBack: left.rolledBack + right.rolledBack, wrong: left.wrong + right.wrong)
    }
  }

  /// The files of a small vault and the states it had before its last commits.
  struct Specimen: Sendable {
    var files: [String: [UInt8]]
    let held: [Held]
    let earlier: [[Held]]
  }

  enum Place: String, CaseIterable, Sendable {
    case database, log, databaseUnderLog, keyFile, counter

    /// Which of `names` is damaged.
    var name: String {
      switch self {
      case .database, .databaseUnderLog: names[0]
      case .log: names[1]
      case .keyFile: names[2]
      case .counter: names[3]
      }
    }

    /// Whether the vault was killed, leaving its last commits in the log.
    var hasLog: Bool { self == .log || self == .databaseUnderLog }
  }

  private static let thoroughness = getenv("VAULT_DAMAGE").map { String(cString: $0) } ?? "sampled"
  /// Every how many places a byte is flipped or a file cut.
  private static let step = thoroughness == "sampled" ? 7 : 1

  private static let names = [
    "/data/oauthctl/vault.db", "/data/oauthctl/vault.db-wal", "/state/oauthctl/key", "/state/oauthctl/commits",
  ]

  /// Three records, the last commits in the log or folded.
  static func specimen(withLog: Bool) async throws -> Specimen {
    let scratch = try Scratch()
    let vault = scratch.vault()
    try await vault.put(.sample(1, size: 700))
    try await vault.put(.sample(2))
    try await vault.put(.sample(3, size: 300))
    await vault.close()
    var earlier = [try await vault.held()]
    try await vault.put(.sample(2, version: 2, size: 500))
    earlier.append(try await vault.held())
    try await vault.put(.sample(4))
    let held = try await vault.held()
    if !withLog { await vault.close() }
    var files: [String: [UInt8]] = [:]
    for name in names { files[name] = try? scratch.read(scratch.path + name) }
    await vault.close()
    return Specimen(files: files, held: held, earlier: earlier)
  }

  static func flips(of bytes: [UInt8]) -> [Damage] {
    let everyMask: [UInt8] = [1, 2, 4, 8, 16, 32, 64, 128, 255]
    return stride(from: 0, to: bytes.count, by: step).flatMap { place in
      (thoroughness == "full" ? everyMask : [1 << UInt8(place * 5 % 8)]).map { mask in
        Damage(what: "byte \(place) xor \(mask)", place: place, mask: mask)
      }
    }
  }

  static func cuts(of bytes: [UInt8]) -> [Damage] {
    stride(from: 0, to: bytes.count, by: step).map { Damage(what: "cut to \($0)", place: $0, mask: nil) }
  }

  /// Opens the vault after each damage, in `workers` folders at once.
  static func judge(_ damages: [Damage], to place: Place, of specimen: Specimen, workers: Int = 2) async throws -> Count
  {
    try await withThrowingTaskGroup(of: Count.self) { group in
      for worker in 0..<workers {
        group.addTask {
          let scratch = try Scratch()
          let original = specimen.files
          _ = try PrivateDirectory.make(scratch.location.directory, isSecret: true)
          _ = try PrivateDirectory.make(scratch.path + "/state/oauthctl", isSecret: true)
          var count = Count()
          for index in stride(from: worker, to: damages.count, by: workers) {
            for name in names {
              if let bytes = original[name] {
                try scratch.write(name == place.name ? damages[index].done(to: bytes) : bytes, to: scratch.path + name)
              } else {
                unlink(scratch.path + name)
              }
            }
            await judge(scratch, damages[index].what, place, specimen, &count)
          }
          return count
        }
      }
      return try await group.reduce(Count(), +)
    }
  }

  private static func judge(
    _ scratch: Scratch, _ what: String, _ place: Place, _ specimen: Specimen, _ count: inout Count
  ) async {
    let vault = scratch.vault()
    do throws(VaultError) {
      let held = try await vault.held()
      let isRolledBack = await vault.rollback != nil
      if held == specimen.held && !isRolledBack {
        count.intact += 1
      } else if place.hasLog && isRolledBack && specimen.earlier.contains(held) {
        count.rolledBack += 1
      } else if place == .counter && isRolledBack && held == specimen.held {
        // Nothing is left that fits: whether the vault is older cannot be told.
        count.rolledBack += 1
      } else {
        count.wrong.append("\(what): \(held.count) records, rolled back: \(isRolledBack)")
      }
    } catch {
      switch error {
      case .damaged, .wrongFormat: count.named += 1
      default: count.wrong.append("\(what): \(error)")
      }
    }
    await vault.close()
  }

  @Test("Every byte flipped", arguments: Place.allCases)
  func flips(place: Place) async throws {
    try await check(place, "flips", DamageTests.flips)
  }

  @Test("Every length cut", arguments: Place.allCases)
  func cuts(place: Place) async throws {
    try await check(place, "cuts", DamageTests.cuts)
  }

  private func check(_ place: Place, _ kind: String, _ damages: ([UInt8]) -> [Damage]) async throws {
    let specimen = try await DamageTests.specimen(withLog: place.hasLog)
    let bytes = try #require(specimen.files[place.name])
    let count = try await DamageTests.judge(damages(bytes), to: place, of: specimen)
    print(
      "vault damage (\(DamageTests.thoroughness)): \(place.rawValue), \(bytes.count) bytes, \(kind): \(count.named) named, \(count.intact) intact, "
        + "\(count.rolledBack) rolled back and reported, \(count.wrong.count) wrong")
    #expect(count.wrong.isEmpty, "\(count.wrong.prefix(10))")
    #expect(count.named + count.intact + count.rolledBack + count.wrong.count > 0)
  }
}
