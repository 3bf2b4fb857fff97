import OAuthProtocol

/// Revocations beside a login. Many servers end whatever a person has granted a client with any token of it, so what a logout
/// could not tell its server goes before the next login, or waits for that one's end.
extension CredentialService {
  /// Seconds that the beginning of a login waits for what its server is told first.
  private static let beforeLoginSeconds = 5.0
  /// Seconds that a login waits with its code for a revocation under way: a code does not last long.
  private static let underWaySeconds = 15.0

  /// Has the server of `binding` told what an earlier logout could not tell it. What cannot be told now either waits for the
  /// end of the login that is beginning.
  func revoke(before binding: DefinitionBinding, of name: String) async {
    let lane = RevocationQueue.Lane(binding)
    guard let account = accounts[name],
      account.machine.record?.revocations.contains(where: { RevocationQueue.Lane($0) == lane }) == true
    else { return }
    event(account, .revocationAsked(of: binding))
    await waitForRevocation(by: lane, of: name, seconds: Self.beforeLoginSeconds)
  }

  /// A server may take a revocation in hand after it has given the tokens of the login.
  func waitForRevocation(by binding: DefinitionBinding, of name: String) async {
    await waitForRevocation(by: RevocationQueue.Lane(binding), of: name, seconds: Self.underWaySeconds)
  }

  private func waitForRevocation(by lane: RevocationQueue.Lane, of name: String, seconds: Double) async {
    let end = time.now().bootSeconds + seconds
    while accounts[name]?.machine.revocationQueue.isSending(lane) == true {
      let left = end - time.now().bootSeconds
      guard left > 0 else { return }
      await wait(for: .revocation(name), seconds: left)
    }
  }

  /// Whether something waits for the end of the login of `name` to be revoked.
  func holdsRevocations(_ name: String) -> Bool { accounts[name]?.machine.record?.heldRevocations.isEmpty == false }

  /// Keeps `revocation` until the login of its account ends that its server could end with it; false: there is none, or it
  /// could not be kept.
  func hold(_ revocation: RevocationRecord, of name: String) async -> Bool {
    guard accounts[name]?.machine.record?.grant?.mayEnd(with: revocation.binding) == true else { return false }
    do { try await change(name, .owe(revocation)) } catch { return false }
    return true
  }

  /// The login of `name` has begun or ended.
  func loginChanged(_ name: String) {
    tell(name)
    if accounts[name]?.machine.record?.revocations.isEmpty == false { wake(name) }
  }
}
