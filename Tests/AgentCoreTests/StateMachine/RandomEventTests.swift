import AgentWire
import OAuthProtocol
import OAuthTerms
import Sealing
import Testing

@testable import AgentCore

/// A small generator, so that a failing sequence can be run again by its seed.
struct Dice {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

  mutating func roll(_ sides: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state >> 33) % UInt64(sides))
  }

  mutating func fraction() -> Double { Double(roll(1_000)) / 1_000 }
}

@Suite("Random events: what holds always (the driver checks it after each)")
struct RandomEventTests {
  @Test("no wake without progress, one thing at a time, everybody answered once", arguments: 0..<400)
  func invariants(seed: Int) {
    var dice = Dice(seed: UInt64(seed + 1))
    let driver = Self.start(&dice)
    for _ in 0..<120 { Self.step(driver, &dice) }
    Self.finish(driver)
    #expect(driver.unanswered.isEmpty, "seed \(seed): \(driver.log.suffix(30))")
  }

  static func start(_ dice: inout Dice) -> MachineDriver {
    let lives: [Double?] = [3_600, 60, 4, 1, nil]
    let kinds: [GrantKind] = [.authorizationCode, .password, .clientCredentials]
    let keeps: [KeepPolicy] = [.inUse, .always, .onDemand]
    let kind = kinds[dice.roll(3)]
    var record = AccountRecord.loggedIn(
      life: lives[dice.roll(5)], age: Double(dice.roll(7_000)),
      refreshToken: kind == .clientCredentials || dice.roll(6) == 0 ? nil : "r1",
      refreshTokenLife: [nil, 1_800, 86_400, 0][dice.roll(4)], kind: kind, asked: dice.roll(2) == 0)
    if dice.roll(3) == 0 { record.password = StoredSecret(Secret("secret")) }
    if dice.roll(4) == 0, kind != .clientCredentials { record = record.withIntent(attempt: 1 + dice.roll(2)) }
    let definition = AccountDefinition.plain.with {
      $0.grant = kind
      $0.keep = keeps[dice.roll(3)]
      $0.refreshRevokesAccessToken = dice.roll(4) == 0
      $0.ambiguousRetry = dice.roll(4) == 0 ? .never : .once
    }
    return MachineDriver(dice.roll(10) == 0 ? nil : record, definition)
  }

  static func step(_ driver: MachineDriver, _ dice: inout Dice) {
    driver.random = dice.fraction()
    switch dice.roll(16) {
    case 0, 1, 2:
      let keys = [TokenKey.standard, TokenKey(scope: ["write"]), TokenKey(scope: ["read", "write"])]
      let current = driver.durable?.accessToken
      driver.ask(
        keys[dice.roll(3)], least: dice.roll(3) == 0 ? Double(dice.roll(4_000)) : nil,
        rejected: dice.roll(3) == 0 ? (dice.roll(3) == 0 ? "other" : current) : nil, force: dice.roll(8) == 0,
        bestEffort: dice.roll(5) == 0)
    case 3, 4: if driver.saving != nil { driver.saved() }
    case 5: if driver.saving != nil { dice.roll(3) == 0 ? driver.saveFails() : driver.saved() }
    case 6, 7, 8: if driver.sending != nil { driver.ends(end(&dice)) }
    case 9: driver.pass([0.5, 3, 40, 400, 5_000, 90_000][dice.roll(6)])
    case 10, 11: if driver.machine.wake(at: driver.now) != nil { driver.sleepAndWake() }
    case 12: if driver.revoking != nil { driver.revocationEnds(revocationEnd(&dice)) }
    case 13: if let id = driver.unanswered.min() { driver.timesOut(id) }
    case 14: driver.change(change(&dice))
    default:
      switch dice.roll(4) {
      case 0: driver.define(dice.roll(3) == 0 ? nil : .plain)
      case 1: driver.define(AccountDefinition.plain.with { $0.clientID = "another" })
      case 2: if let token = driver.durable?.accessToken { _ = driver.reject(token) }
      default: driver.wakes()
      }
    }
  }

  private static func end(_ dice: inout Dice) -> TokenCallEnd {
    let number = dice.roll(40)
    switch dice.roll(11) {
    case 0: return .notSent("connection refused")
    case 1: return .sentNoAnswer("the connection closed")
    case 2: return .invalidGrant
    case 3: return .invalidClient
    case 4: return .emptyRefusal
    case 5: return .unusable(.status(503), retryAfterSeconds: [nil, 0, 90][dice.roll(3)])
    case 6: return .refused("invalid_scope")
    case 7: return .unproven(hasNewNonce: dice.roll(4) > 0)
    default:
      return .granted(
        "a\(number % 5)", refreshToken: dice.roll(3) == 0 ? nil : "r\(number)",
        life: [3_600, 60, 3, 0, nil][dice.roll(5)], refreshTokenLife: [nil, 1_800, 0, 1][dice.roll(4)])
    }
  }

  private static func revocationEnd(_ dice: inout Dice) -> RevocationEnd {
    switch dice.roll(3) {
    case 0: .revoked
    case 1: .refused("no")
    default: .later("503", retryAfterSeconds: nil)
    }
  }

  private static func change(_ dice: inout Dice) -> AccountChange {
    switch dice.roll(11) {
    case 0: .logout()
    case 1: .setSecret(.clientSecret, Secret("s\(dice.roll(3))"))
    case 2: .setSecret(.refreshToken, Secret("r\(dice.roll(3))"))
    case 3: .forgetSecret([SecretKind.clientSecret, .password, .refreshToken][dice.roll(3)])
    case 4: .accept(.plain, from: .plain)
    case 5: .forget()
    case 6: .setSecret(.password, Secret("secret"))
    case 7: .setCertificate(Secret("s2"), of: StoredSecret(Secret("s\(dice.roll(2))")))
    default: .login("a\(dice.roll(5))")
    }
  }

  /// Everything works from here on: nobody may be left waiting.
  private static func finish(_ driver: MachineDriver) {
    for _ in 0..<60 where !driver.unanswered.isEmpty {
      if driver.saving != nil {
        driver.saved()
      } else if driver.sending != nil {
        driver.ends(.granted("last", refreshToken: "last"))
      } else if driver.machine.wake(at: driver.now) != nil {
        driver.sleepAndWake()
      }
    }
  }
}
