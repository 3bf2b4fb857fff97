import Sealing
import Testing

@testable import AgentCore

@Suite("Revocations that wait")
struct OwedRevocationTests {
  private func revocation(_ number: Int, bytes: Int = 40) -> RevocationRecord {
    let token = Secret("\(number)-" + String(repeating: "t", count: bytes))
    return RevocationRecord(
      token: StoredSecret(token), hint: "refresh_token", binding: .plain, since: .start)
  }

  @Test("the oldest go where there are more than are kept")
  func number() {
    var record = AccountRecord(name: "work")
    for number in 0..<100 { record.owe([revocation(number)]) }
    #expect(record.revocations == (36..<100).map { revocation($0) })
  }

  @Test("long tokens never fill the record, and the last ones are kept in any case")
  func bytes() {
    var record = AccountRecord(name: "work")
    for number in 0..<100 { record.owe([revocation(number, bytes: 32 << 10)]) }
    #expect((1...8).contains(record.revocations.count))
    #expect(record.revocations.last == revocation(99, bytes: 32 << 10))
    record.owe([revocation(100, bytes: 300 << 10), revocation(101, bytes: 300 << 10)])
    #expect(record.revocations.count == 2)
  }
}
