/// Room on the vault's disk, and what lies elsewhere for want of it.
extension Vault {
  /// Called before something is sent whose answer is to be kept.
  ///
  /// - Throws: `noRoom`.
  func checkRoom() throws(VaultError) {
    do throws(VaultError) {
      try DiskRoom.check(location.directory)
      lackOfRoom = nil
    } catch {
      lackOfRoom = error
      throw error
    }
  }

  /// What is told of it; nil: there is room, as far as was asked.
  var roomProblem: VaultError? {
    guard spilledToMemory.isEmpty else {
      return .noRoom(
        folder: location.directory,
        "no disk takes what \(Self.logins(spilledToMemory.count)) got last: it is kept in memory, and a restart of the machine "
          + "loses it")
    }
    if lackOfRoom != nil { try? checkRoom() }
    return lackOfRoom
  }

  /// "a login has", "2 logins have".
  static func logins(_ count: Int) -> String { count == 1 ? "a login has" : "\(count) logins have" }
}
