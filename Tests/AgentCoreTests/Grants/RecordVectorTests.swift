import FoundationEssentials
import JSONCoding
import OAuthProtocol
import OAuthTerms
import Sealing
import Testing
import TokenVault

@testable import AgentCore

/// Vectors/records.jsonl and late-tokens.jsonl: records as agents up to November 2026 have sealed them, by Foundation's
/// encoder: keys in any order, slashes escaped. They are never written anew.
@Suite("Records, as they are sealed")
struct RecordVectorTests {
  private static func lines(_ name: String, from file: String = #filePath) throws -> [[UInt8]] {
    let folder = file.split(separator: "/").dropLast(2).joined(separator: "/")
    return try Data(contentsOf: URL(filePath: "/\(folder)/Vectors/\(name)")).split(separator: 0x0A).map(Array.init)
  }

  /// Each kind of account, and each member that a record may have.
  static let records: [AccountRecord] = {
    let login = AccountRecord.loggedIn(age: 12.25, refreshTokenLife: 1_209_600)
    let odd = Secret("/+=\"\\\u{1}\u{7F}é😀 \u{2028}</x>")
    var revocation = RevocationRecord(
      token: StoredSecret(Secret("r0")), hint: "refresh_token", binding: .plain, since: .start)
    (revocation.clientSecret, revocation.attempts, revocation.lifeSeconds) = (StoredSecret(odd), 3, 86_400.5)
    var registered = RevocationRecord(
      token: StoredSecret(Secret("reg")), hint: RevocationRecord.registrationHint, binding: exchange, since: .start)
    registered.clientURI = "https://login.example.com/clients/1?a=b"
    return [
      AccountRecord(name: "empty"), login, .loggedIn(life: nil, refreshToken: nil, kind: .clientCredentials),
      login.withIntent(attempt: 2).with { $0.intent?.first = Moment.start.advanced(by: -0.1) },
      login.with {
        $0.grant?.proofKey = StoredSecret(odd)
        $0.grant?.binding.dpop = true
        $0.grant?.otherRefreshToken = StoredSecret(Secret("r2"))
        $0.grant?.afterRollback = .max
        $0.grant?.askedScope = []
        $0.grant?.refreshed = Moment(bootID: "boot-0", bootSeconds: 0, wallSeconds: 1e-7, behindSeconds: -1.5)
        $0.grant?.verdict = GrantVerdict(
          .loginRequired, "the server says: “no”\n", oauthError: "invalid_grant", oauthErrorDescription: "a/b")
        $0.grant?.verdict?.isUnconfirmed = true
      },
      login.with {
        $0.revocations = [revocation, registered]
        $0.clientSecret = StoredSecret(odd)
        $0.password = StoredSecret(Secret(""))
        $0.clientSecretPlace = SecretPlace(DefinitionBinding.plain)
        $0.passwordPlace = SecretPlace(AccountDefinition.plain)
        // Those agents did not note it.
        $0.clientSecretPlace?.clientID = nil
        $0.passwordPlace?.clientID = nil
        $0.formerBinding = exchange
        $0.registrations = [ClientRegistrationRecord(binding: .plain, since: .start, management: nil)]
        $0.registrations?[0].clientURI = "https://login.example.com/clients/2"
        $0.registrations?[0].accessToken = StoredSecret(Secret("manage"))
        $0.tokens.append(
          TokenRecord(
            key: TokenKey(scope: ["b", "a"], resource: ["https://api.example.com/"], audience: ["é"]),
            accessToken: odd, tokenType: "DPoP", scope: [], received: .start, lifeSeconds: 0.1))
      },
    ]
  }()

  /// By tokens of others: the deepest that there is.
  private static let exchange: DefinitionBinding = {
    var binding = DefinitionBinding.plain
    let alice = EndUser(issuer: "https://other.example.com", subject: "1/2", who: "Alice \"A\"")
    let lent = LentToken(account: "other", kind: .idToken, issuer: alice.issuer, user: alice)
    binding.request = UnattendedRequest(
      AccountDefinition.plain.with {
        $0.grant = .tokenExchange
        $0.lent = LentTokens(subject: lent, actor: lent, requestedType: "urn:x:y")
        $0.resource = ["https://api.example.com/a", "https://api.example.com/"]
      })
    binding.resending = ResendPolicy(AccountDefinition.plain.with { $0.reuseGraceSeconds = 30 })
    binding.assertionAudience = .tokenEndpoint
    binding.tokenParameters = ["b/c": "d\\e", "é": "", "a": "1"]
    binding.publicOnly = ["https://login.example.com/token"]
    return binding
  }()

  static let lateTokens = [
    LateToken(
      refreshToken: StoredSecret(Secret("late/1")), sent: "sha256:00", received: .start, lifeSeconds: 3_600,
      binding: exchange, loggedIn: .start),
    LateToken(
      refreshToken: StoredSecret(Secret("late")), sent: "sha256:01", received: .start, lifeSeconds: nil,
      binding: .plain),
  ]

  @Test("Records of earlier agents are read as they were")
  func earlier() async throws {
    let lines = try Self.lines("records.jsonl")
    let stored = lines.map { VaultRecord(id: RecordID(random: SystemRandom()), version: 1, payload: Secret($0)) }
    let read = await StoredRecords.read(stored)
    #expect(read.later.isEmpty)
    #expect(read.accounts.map(\.record) == Self.records)
    #expect(try Self.lines("late-tokens.jsonl").map { ShapeDecoder.read(LateToken.self, $0) } == Self.lateTokens)
  }

  @Test("What is written now comes back, and an earlier agent reads it")
  func written() throws {
    let placed = AccountRecord.loggedIn().with { $0.clientSecretPlace = SecretPlace(DefinitionBinding.plain) }
    for record in Self.records + [placed] {
      let bytes = try JSONWriter.bytes(of: record)
      #expect(ShapeDecoder.read(AccountRecord.self, bytes) == record)
      #expect(try JSONDecoder().decode(AccountRecord.self, from: Data(bytes)) == record)
    }
    for late in Self.lateTokens {
      let bytes = try JSONWriter.bytes(of: late)
      #expect(ShapeDecoder.read(LateToken.self, bytes) == late)
      #expect(try JSONDecoder().decode(LateToken.self, from: Data(bytes)) == late)
    }
  }
}
