import AgentWire
import Sealing
import Testing

@testable import AgentCore

@Suite("Refresh tokens that a person gives")
struct GivenTokenTests {
  private static func fingerprint(_ token: String) -> String { Fingerprint(of: Secret(token)).description }

  /// `r0` was given, `r2` came last, for `r1`.
  private static let rotated = AccountRecord.loggedIn(refreshToken: "r2").with {
    $0.grant?.givenToken = fingerprint("r0")
    $0.grant?.refreshTokenParent = fingerprint("r1")
    $0.grant?.otherRefreshToken = StoredSecret(Secret("r3"))
  }

  @Test("An account knows what it has, what it had before, and what it was given")
  func acquaintance() {
    for (token, expected) in [
      ("r2", AccountRecord.Acquaintance.kept), ("r3", .kept), ("r1", .used), ("r0", .used), ("r4", nil),
    ] {
      #expect(Self.rotated.acquaintance(with: Secret(token), of: .plain) == expected, "\(token)")
    }
    var elsewhere = DefinitionBinding.plain
    elsewhere.issuer += "/other"
    elsewhere.tokenEndpoint += "/other"
    #expect(Self.rotated.acquaintance(with: Secret("r2"), of: elsewhere) == nil)
    #expect(AccountRecord(name: "work").acquaintance(with: Secret("r0"), of: .plain) == nil)
  }

  @Test("One that is used up takes no place, by an import or alone", arguments: ["r0", "r1"])
  func used(token: String) throws {
    let driver = MachineDriver(Self.rotated)
    #expect(driver.failed(driver.change(.setSecret(.refreshToken, Secret(token)))) == .badRequest)
    var grant = try #require(AccountRecord.loggedIn(refreshToken: token).grant)
    grant.givenToken = Self.fingerprint(token)
    #expect(driver.failed(driver.change(.login(grant, nil, used: UsedSecrets()))) == .badRequest)
    #expect(driver.saving == nil && driver.durable == Self.rotated)
  }

  @Test("The same one again may have been sent before: the intent stays")
  func sameAgain() {
    let driver = MachineDriver(.expired())
    driver.ask()
    driver.saved()
    driver.endsDurably(.sentNoAnswer("closed"))
    #expect(driver.durable?.intent?.attempt == 1)
    driver.change(.setSecret(.refreshToken, Secret("r1")))
    driver.saved()
    #expect(driver.durable?.intent?.attempt == 1)
    let other = MachineDriver(.expired().withIntent(attempt: 1))
    other.change(.setSecret(.refreshToken, Secret("r5")))
    other.saved()
    #expect(other.durable?.intent == nil)
  }

  @Test("Tokens of the login before go with it, and the given one is remembered over rotations")
  func tokensBefore() {
    let driver = MachineDriver(.loggedIn())
    driver.change(.setSecret(.refreshToken, Secret("r5")))
    driver.saved()
    #expect(driver.durable?.tokens == [] && driver.published.isEmpty)
    let id = driver.ask()
    driver.saved()
    driver.endsDurably(.granted("a2", refreshToken: "r6"))
    #expect(driver.token(id) == "a2")
    #expect(driver.durable?.grant?.givenToken == Self.fingerprint("r5"))
    #expect(driver.durable?.acquaintance(with: Secret("r5"), of: .plain) == .used)
  }
}
