import JSONCoding
import Sealing
import Testing

@testable import AgentCore

@Suite("How long a record is that is kept")
struct RecordBoundsTests {
  private static let now = Moment(bootID: "boot-1", bootSeconds: 10, wallSeconds: 1_700_000_000)

  /// With as many tokens as there may be and with revocations, each as long as a server may make it.
  private static func full() -> AccountRecord {
    AccountRecord.loggedIn().with { record in
      let long = Secret(String(repeating: "\\", count: 32 << 10))
      record.tokens = (0..<TokenKey.limit).map { index in
        TokenRecord(
          key: TokenKey(scope: ["s\(index)"]), accessToken: long, tokenType: "Bearer",
          scope: (0..<256).map { "\($0)" + String(repeating: "s", count: 240) }, received: now, lifeSeconds: 60)
      }
      guard let binding = record.grant?.binding else { return }
      record.revocations = (0..<16).map { _ in
        RevocationRecord(token: StoredSecret(long), hint: "refresh_token", binding: binding, since: now)
      }
    }
  }

  private func kept(_ record: AccountRecord, atMost most: Int) throws -> AccountRecord {
    let bytes = try record.bytes(atMost: most)
    #expect(bytes.count <= most)
    return try #require(ShapeDecoder.read(AccountRecord.self, bytes))
  }

  @Test("one that fits is kept whole")
  func whole() throws {
    let record = AccountRecord.loggedIn()
    #expect(try kept(record, atMost: 1 << 20) == record)
  }

  @Test(
    "of one that does not the oldest access tokens go first, then the oldest revocations, and never the refresh token")
  func cut() throws {
    let record = Self.full()
    let most = try kept(record, atMost: 2 << 20)
    #expect(most.tokens.count < TokenKey.limit && most.tokens == record.tokens.suffix(most.tokens.count))
    #expect(most.revocations == record.revocations)
    let some = try kept(record, atMost: 1 << 20)
    #expect(some.tokens == record.tokens.suffix(1))
    #expect(!some.revocations.isEmpty && some.revocations == record.revocations.suffix(some.revocations.count))
    let least = try kept(record, atMost: 64 << 10)
    #expect(least.tokens.isEmpty && least.revocations.isEmpty && least.grant == record.grant)
  }
}
