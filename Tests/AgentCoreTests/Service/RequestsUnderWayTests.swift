import OAuthProtocol
import Sealing
import TokenVault
import Testing

@testable import AgentCore

@Suite("What was sent and has not ended")
struct RequestsUnderWayTests {
  private static let (id, other) = (
    RecordID(random: SystemRandom()), RecordID(random: SystemRandom())
  )

  private func call(_ number: UInt64, _ refreshToken: String) -> TokenCall {
    TokenCall(
      grant: .refreshToken(Secret(refreshToken)), key: .standard, scope: [], resource: [], audience: [],
      binding: .plain, isLogin: false, loggedIn: .start, clientSecret: nil, proofKey: nil, number: number,
      started: .start)
  }

  @Test("a call ends once")
  func once() {
    var underWay = RequestsUnderWay()
    underWay.begin(RequestsUnderWay.Call(account: "work", id: Self.id, call: call(7, "r1")))
    #expect(underWay.end(7)?.account == "work")
    #expect(underWay.end(7) == nil && underWay.end(8) == nil)
  }

  @Test("a record finds its calls with this refresh token, the oldest first")
  func ofRecord() {
    var underWay = RequestsUnderWay()
    for (number, token, id) in [(9, "r1", Self.id), (4, "r1", Self.id), (5, "r2", Self.id), (6, "r1", Self.other)] {
      underWay.begin(RequestsUnderWay.Call(account: "work", id: id, call: call(UInt64(number), token)))
    }
    #expect(underWay.calls(of: Self.id, with: Secret("r1")).map(\.number) == [4, 9])
  }

  @Test("other requests are counted: the last one to end leaves none")
  func others() {
    var underWay = RequestsUnderWay()
    underWay.beginOther()
    underWay.beginOther()
    underWay.endOther()
    #expect(!underWay.isEmpty)
    underWay.endOther()
    #expect(underWay.isEmpty)
  }

  @Test("late tokens wait for the record that they are of")
  func late() {
    var underWay = RequestsUnderWay()
    let late = LateToken(
      refreshToken: StoredSecret(Secret("r2")), sent: "f", received: .start, lifeSeconds: nil, binding: .plain)
    underWay.keep(late, of: Self.id)
    #expect(underWay.lateTokens(of: Self.id).count == 1 && underWay.lateTokens(of: Self.other).isEmpty)
    underWay.forgetLateTokens()
    #expect(underWay.lateTokens(of: Self.id).isEmpty)
  }
}
