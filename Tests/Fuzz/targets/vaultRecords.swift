// What a vault's catalogue and slots hold, once the seal is open: read back as written, or refused.

import Sealing
@testable import TokenVault

private struct NoRandom: RandomSource {
  func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: 7, count: count) }
}

private let vaultID = [UInt8](repeating: 1, count: 16)
private let keys = try? VaultKeys(data: SealingKey(SecretBytes(copying: [UInt8](repeating: 9, count: 32))))

/// libFuzzer calls this for every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeRawBufferPointer(start: start, count: count)
  guard let keys else { preconditionFailure("no keys") }
  var reader = ByteReader(bytes)
  if let passes = reader.integer(UInt32.self), let memory = reader.integer(UInt32.self),
    let cost = try? PasswordHash.Cost(passes: passes, memoryKiB: memory)
  {
    precondition(PasswordHash.Cost.memoryKiBRange.contains(cost.memoryKiB), "a memory bomb")
  }
  // As it stands: no seal of ours.
  precondition((try? Catalogue(opening: Array(bytes), vaultID: vaultID, keys: keys)) == nil, "a forged seal opens")
  // And as what somebody with the key had written.
  guard
    let sealed = try? AEAD.seal(
      bytes, associatedData: VaultFormat.catalogueAssociatedData(vaultID: vaultID), key: keys.catalogue,
      random: NoRandom()),
    let catalogue = try? Catalogue(opening: sealed, vaultID: vaultID, keys: keys)
  else { return 0 }
  let again = try? Catalogue(
    opening: catalogue.sealed(vaultID: vaultID, keys: keys, random: NoRandom()), vaultID: vaultID, keys: keys)
  precondition(again == catalogue)
  return 0
}
