// The beginning of `vault.db`, header and schema, as somebody without a key could have written it: refused, or the very
// vault that was there.

import Glibc
@testable import TokenVault

private let vaultID = [UInt8](repeating: 1, count: 16)

/// A vault in memory, what its file held when it was made, and its folder.
private struct VaultFixture {
  let path: String
  let whole: [UInt8]

  init() throws(VaultError) {
    var template = Array("/dev/shm/vaultHeader-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { preconditionFailure("no folder in /dev/shm") }
    path = String(cString: made) + "/" + VaultLocation.databaseName
    let directory = try PrivateDirectory.make(String(cString: made), isSecret: true)
    try VaultDatabase.create(
      in: directory, path: path,
      DatabaseContents(vaultID: vaultID, slots: [], catalogue: [UInt8](repeating: 2, count: 64)))
    guard let file = fopen(path, "r") else { preconditionFailure("no vault") }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = fread(&bytes, 1, bytes.count, file)
    fclose(file)
    whole = Array(bytes.prefix(count))
    atexit { fixture?.remove() }
  }

  func remove() {
    unlink(path + "-wal")
    unlink(path)
    rmdir(PrivateDirectory.parent(of: path))
  }

  func write(_ bytes: [UInt8]) {
    unlink(path + "-wal")
    guard let file = fopen(path, "w") else { preconditionFailure("no vault") }
    fwrite(bytes, 1, bytes.count, file)
    fclose(file)
  }
}

private let fixture = try? VaultFixture()

/// libFuzzer calls this for every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let fixture else { preconditionFailure("no vault to begin with") }
  let head = UnsafeRawBufferPointer(start: start, count: min(count, fixture.whole.count))
  fixture.write(Array(head) + fixture.whole.dropFirst(head.count))
  do throws(VaultError) {
    let directory = try PrivateDirectory.make(PrivateDirectory.parent(of: fixture.path), isSecret: true)
    guard let database = try VaultDatabase.open(in: directory, path: fixture.path) else { return 0 }
    precondition(database.vaultID.count == VaultFormat.vaultIDCount)
    _ = try database.slots()
  } catch {
    guard case .damaged = error else {
      if case .wrongFormat = error { return 0 }
      preconditionFailure("\(error)")
    }
  }
  return 0
}
