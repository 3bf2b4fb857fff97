import FoundationEssentials
import Sealing

@testable import TokenVault

/// Vectors/vault-format-1.json: what docs/vault-format.md says, as bytes. Tests/System/vault/test_format.py reads it too.
struct FormatVectors: Decodable {
  struct Key: Decodable {
    let number: UInt64
    let text: String
    let use: String
    let key: Bytes
  }
  struct KeyLine: Decodable {
    let key: Bytes
    let line: String
    let wrappingKey: Bytes
  }
  struct Code: Decodable {
    let random: Bytes
    let shown: String
    let hashed: String
    let typed: [String]
    let wrong: [String]
  }
  struct SlotRow: Decodable {
    let number: UInt32
    let kind: UInt32
    let secret: String
    let passes: UInt32
    let memoryKib: UInt32
    let salt: Bytes
    let wrappingKey: Bytes
    let sealed: Bytes
    let fingerprint: Bytes

    var slot: Slot {
      Slot(number: number, kind: kind, passes: passes, memoryKiB: memoryKib, salt: salt.all, sealed: sealed.all)
    }
  }
  struct RecordRow: Decodable {
    let id: Bytes
    let version: UInt64
    let commit: UInt64
    let payload: Bytes
    let rowKey: Bytes
    let sealed: Bytes
  }
  struct SealedCatalogue: Decodable {
    let commit: UInt64
    let expectedCommit: UInt64
    let plaintext: Bytes
    let sealed: Bytes
  }
  struct CounterPlace: Decodable {
    let commit: UInt64
    let place: Bytes
  }
  struct LetterFile: Decodable {
    let seed: Bytes
    let publicKey: Bytes
    let recordId: Bytes
    let number: UInt64
    let payload: Bytes
    let name: String
    let file: Bytes
  }
  /// Hex digits in the file.
  struct Bytes: Decodable {
    let all: [UInt8]

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      guard let all = try Hex.decode(container.decode(String.self)) else {
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "not hex digits")
      }
      self.all = all
    }

    /// Of a sealed value.
    var nonce: GivenBytes { GivenBytes(all: Array(all.prefix(24))) }
    var key: SealingKey { get throws { try SealingKey(SecretBytes(copying: all)) } }
  }
  /// Randomness that a vector fixes.
  struct GivenBytes: RandomSource {
    let all: [UInt8]
    func bytes(_ count: Int) -> [UInt8] { Array(all.prefix(count)) }
  }

  let format: UInt32
  let vaultId: Bytes
  let dataKey: Bytes
  let keys: [Key]
  let keyFile: KeyLine
  let recoveryCode: Code
  let slots: [SlotRow]
  let records: [RecordRow]
  let catalogue: SealedCatalogue
  let rolledBackCatalogue: SealedCatalogue
  let counter: [CounterPlace]
  let counterFile: Bytes
  let letter: LetterFile

  static func load(from file: String = #filePath) throws -> FormatVectors {
    let folder = file.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(
      FormatVectors.self, from: Data(contentsOf: URL(filePath: "\(folder)/Vectors/vault-format-1.json")))
  }

  var vaultKeys: VaultKeys { get throws { try VaultKeys(data: dataKey.key) } }

  func record(_ row: RecordRow) -> VaultRecord {
    VaultRecord(
      id: RecordID(row.id.all) ?? RecordID(random: SystemRandom()), version: row.version,
      payload: Secret(row.payload.all))
  }

  /// What `sealed` holds, before it is sealed.
  func contents(of sealed: SealedCatalogue) -> Catalogue {
    var catalogue = Catalogue(
      commit: sealed.commit, rollbackExpected: sealed.expectedCommit,
      slots: Dictionary(uniqueKeysWithValues: slots.map { ($0.number, $0.fingerprint.all) }))
    for row in records {
      catalogue.entries[record(row).id] = Catalogue.Entry(version: row.version, commit: row.commit)
    }
    return catalogue
  }
}
