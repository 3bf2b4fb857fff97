import AgentWire
import OAuthTerms
import Sealing

@testable import AgentCore
@testable import OAuthProtocol

extension AccountDefinition {
  static let plain = AccountDefinition(
    name: "work", file: "/etc/accounts.d/work.toml", issuer: "https://login.example.com", clientID: "client",
    scope: ["read"], allowedScope: ["write"], username: "alice")

  func with(_ change: (inout AccountDefinition) -> Void) -> AccountDefinition {
    var copy = self
    change(&copy)
    return copy
  }
}

extension DefinitionBinding {
  /// As bound to ``AccountDefinition/plain``.
  static let plain = DefinitionBinding(
    issuer: "https://login.example.com", clientID: "client", clientAuthentication: "none",
    tokenEndpoint: "https://login.example.com/token", authorizationEndpoint: nil, deviceAuthorizationEndpoint: nil,
    revocationEndpoint: "https://login.example.com/revoke", redirectURI: "http://127.0.0.1/callback",
    hosts: ["https://login.example.com"], certificateAuthorityFile: nil, certificateAuthorityDigest: nil, proxy: nil,
    tokenParameters: [:])
}

extension Moment {
  /// Where every driver begins.
  static let start = Moment(bootID: "boot-1", bootSeconds: 10_000, wallSeconds: 1_700_000_000)
}

extension AccountRecord {
  /// Logged in at the start; the access token `a1` was received `age` seconds before it.
  static func loggedIn(
    life: Double? = 3_600, age: Double = 0, refreshToken: String? = "r1", refreshTokenLife: Double? = nil,
    kind: GrantKind = .authorizationCode, asked: Bool = false
  ) -> AccountRecord {
    let then = Moment.start.advanced(by: -age)
    var record = AccountRecord(name: "work")
    var grant = GrantRecord(
      kind: kind, refreshToken: refreshToken.map { StoredSecret(Secret($0)) }, refreshTokenReceived: then,
      refreshTokenLifeSeconds: refreshTokenLife, scope: ["read"], loggedIn: then, binding: .plain)
    if asked { grant.lastAskedWallSeconds = Moment.start.wallSeconds }
    record.grant = grant
    record.tokens = [
      TokenRecord(
        key: .standard, accessToken: Secret("a1"), tokenType: "Bearer", scope: ["read"], received: then,
        lifeSeconds: life)
    ]
    return record
  }

  /// As ``loggedIn(life:age:refreshToken:refreshTokenLife:kind:asked:)``, its token over long ago.
  static func expired(refreshToken: String? = "r1", kind: GrantKind = .authorizationCode) -> AccountRecord {
    loggedIn(age: 7_200, refreshToken: refreshToken, kind: kind)
  }

  func with(_ change: (inout AccountRecord) -> Void) -> AccountRecord {
    var copy = self
    change(&copy)
    return copy
  }

  func withIntent(attempt: Int) -> AccountRecord {
    with {
      $0.intent = RefreshIntent(
        fingerprint: Fingerprint(of: Secret("r1")).description, attempt: attempt, at: .start,
        endpoint: "https://login.example.com/token")
    }
  }

  var refreshToken: String? { grant?.refreshToken?.secret.reveal() }
  var accessToken: String? { token(.standard)?.accessToken.secret.reveal() }
}

extension TokenCallEnd {
  /// A token, and a rotated refresh token unless `refreshToken` is nil.
  static func granted(
    _ token: String, refreshToken: String? = "r2", life: Double? = 3_600, scope: [String]? = nil,
    refreshTokenLife: Double? = nil, date: Int64? = nil
  ) -> TokenCallEnd {
    judged(
      .granted(
        TokenResponse(
          accessToken: Secret(token), tokenType: .bearer,
          lifetime: life.map { .seconds(Int($0)) } ?? .unknown(.missing), scope: scope,
          refreshToken: nil, refreshTokenLifetimeSeconds: refreshTokenLife.map { Int($0) }, idToken: nil)),
      refreshToken, date)
  }

  static func refused(_ code: String, _ explanation: String? = nil, refreshToken: String? = nil) -> TokenCallEnd {
    guard let error = OAuthError(code: code, explanation: explanation) else { return .notTried("\(code) is no code") }
    return judged(.refused(error), refreshToken)
  }

  static func refusedWithoutReason(refreshToken: String? = nil) -> TokenCallEnd {
    judged(.refusedWithoutReason(status: 400), refreshToken)
  }

  static func unusable(
    _ problem: TokenAnswerProblem, retryAfterSeconds: Int? = nil, refreshToken: String? = nil
  ) -> TokenCallEnd {
    judged(.unusable(problem, retryAfterSeconds: retryAfterSeconds), refreshToken)
  }

  static func unproven(hasNewNonce: Bool = true) -> TokenCallEnd {
    guard let error = OAuthError(code: "use_dpop_nonce") else { return .notTried("that is no code") }
    let verdict = TokenVerdict.unusable(.transient(error), retryAfterSeconds: nil)
    return .unproven(
      TokenJudgement(salvagedRefreshToken: nil, verdict: verdict, serverDateSeconds: nil), hasNewNonce: hasNewNonce)
  }

  private static func judged(
    _ verdict: TokenVerdict, _ refreshToken: String?, _ date: Int64? = nil
  ) -> TokenCallEnd {
    .answered(
      TokenJudgement(
        salvagedRefreshToken: refreshToken.map { Secret($0) }, verdict: verdict, serverDateSeconds: date))
  }

  static let invalidGrant = refused("invalid_grant")
  static let invalidClient = refused("invalid_client")
  static let serverError = unusable(.status(503))
  static let emptyRefusal = refusedWithoutReason()
}

extension AccountChange {
  static func login(
    _ token: String, refreshToken: String? = "r9", binding: DefinitionBinding = .plain
  ) -> AccountChange {
    let record = AccountRecord.loggedIn(refreshToken: refreshToken)
    guard var grant = record.grant else { return .logout() }
    grant.binding = binding
    return .login(
      grant,
      TokenRecord(
        key: .standard, accessToken: Secret(token), tokenType: "Bearer", scope: ["read"], received: .start,
        lifeSeconds: 3_600), used: UsedSecrets())
  }
}
