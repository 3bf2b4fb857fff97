import FoundationEssentials
import Glibc
import Sealing

@testable import TokenVault

/// A private folder for one test, removed with the last reference; in memory where the machine has such a place.
final class Scratch: Sendable {
  let path: String

  init() throws {
    let base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : (getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp")
    var template = Array("\(base)/vault-test.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw VaultError.system("mkdtemp", base) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var location: VaultLocation {
    VaultLocation(
      directory: "\(path)/data/oauthctl", keyFile: "\(path)/state/oauthctl/key",
      counterFile: "\(path)/state/oauthctl/commits")
  }

  /// A vault whose recovery code is cheap to hash: what it costs is tested elsewhere.
  func vault(now: @escaping @Sendable () -> Double = { 0 }) -> Vault {
    Vault(location: location, socketPathForLock: "\(path)/agent.sock", recoveryCost: .cheap, now: now)
  }

  /// With a record, a key file, a recovery code and `passphrase`.
  func protectedVault(_ passphrase: Secret) async throws -> (Vault, RecoveryCode) {
    let vault = vault()
    let code = try await vault.create()
    try await vault.put(.sample(1))
    try await vault.setPassphrase(passphrase, cost: .cheap)
    return (vault, code)
  }

  /// The bytes of every file below the vault's folder and its state's, by path.
  func files() throws -> [String: [UInt8]] {
    var found: [String: [UInt8]] = [:]
    for folder in ["data/oauthctl", "state/oauthctl"] {
      for (name, bytes) in try contents(of: "\(path)/\(folder)") {
        found[String(name.dropFirst(path.count + 1))] = bytes
      }
    }
    return found
  }

  /// The bytes of every file in `folder`, not in folders in it, by its whole path.
  func contents(of folder: String) throws -> [String: [UInt8]] {
    var found: [String: [UInt8]] = [:]
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
      var status = stat()
      guard stat("\(folder)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
      found["\(folder)/\(name)"] = try read("\(folder)/\(name)")
    }
    return found
  }

  /// Puts exactly these files there.
  func restore(_ files: [String: [UInt8]]) throws {
    for name in try self.files().keys where files[name] == nil { unlink("\(path)/\(name)") }
    for (name, bytes) in files { try write(bytes, to: "\(path)/\(name)") }
  }

  /// The files that hold `bytes`.
  func files(with bytes: [UInt8]) throws -> [String] {
    try files().filter { file in
      file.value.withUnsafeBytes { all in
        guard let first = bytes.first, all.count >= bytes.count else { return false }
        return (0...all.count - bytes.count).contains { start in
          all[start] == first && all[start..<start + bytes.count].elementsEqual(bytes)
        }
      }
    }.keys.sorted()
  }

  func read(_ path: String) throws -> [UInt8] {
    guard let bytes = FileManager.default.contents(atPath: path) else { throw VaultError.system("read", path) }
    return Array(bytes)
  }

  /// Replaces the contents, keeping inode and mode.
  func write(_ bytes: [UInt8], to path: String) throws {
    let number = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    guard number >= 0 else { throw VaultError.system("open", path) }
    let descriptor = FileDescriptor(number)
    guard bytes.isEmpty || descriptor.write(bytes, at: 0) else { throw VaultError.system("write", path) }
  }
}

extension PasswordHash.Cost {
  /// As little as the bounds allow.
  static let cheap = (try? PasswordHash.Cost(passes: 1, memoryKiB: 8_192)) ?? .interactive
}

extension VaultRecord {
  /// A record whose payload is `size` bytes that depend on the name and the version.
  static func sample(_ name: UInt8, version: UInt64 = 1, size: Int = 100) -> VaultRecord {
    let id = RecordID([UInt8](repeating: name, count: RecordID.byteCount)) ?? RecordID(random: SystemRandom())
    let payload = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ Int(name) &+ Int(version) &* 7) }
    return VaultRecord(id: id, version: version, payload: Secret(payload))
  }
}

/// What a test compares: id, version and payload.
struct Held: Equatable, Sendable {
  let id: RecordID
  let version: UInt64
  let payload: Secret

  init(_ record: VaultRecord) {
    id = record.id
    version = record.version
    payload = record.payload
  }
}

extension Vault {
  func held() async throws(VaultError) -> [Held] { try await loadAll().map { Held($0) } }
}
