import AgentWire

/// What is written to the vault. While another is made in the place of one that is gone, writes wait: nothing that is
/// kept of the old one goes into the new one, whose key file opens it.
struct VaultWrites {
  /// Gives the number of the commit; 0: none was needed.
  typealias Write = @Sendable () async -> Result<UInt64, AgentFailure>

  /// Those that the vault was handed and has not ended.
  private var underWay = 0
  /// Those that wait; nil: none has to.
  private var held: [(account: CredentialService.Account, write: Write)]?
  private var ended: CheckedContinuation<Void, Never>?

  /// Whether it may begin now; else it is kept until `release`.
  mutating func begin(_ account: CredentialService.Account, _ write: @escaping Write) -> Bool {
    if held != nil {
      held?.append((account, write))
      return false
    }
    underWay += 1
    return true
  }

  mutating func end() {
    underWay -= 1
    guard underWay == 0 else { return }
    ended?.resume()
    ended = nil
  }

  /// From now on writes wait. `continuation` is resumed when none is under way any more.
  mutating func hold(_ continuation: CheckedContinuation<Void, Never>) {
    held = []
    if underWay == 0 { continuation.resume() } else { ended = continuation }
  }

  /// Those that have waited, for whoever lets them begin now.
  mutating func release() -> [(account: CredentialService.Account, write: Write)] {
    defer { held = nil }
    return held ?? []
  }
}
