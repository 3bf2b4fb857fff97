import OAuthProtocol
import Sealing
import TokenVault

/// What was sent to servers and has not ended. It outlives a lock.
struct RequestsUnderWay {
  /// A token call.
  struct Call {
    let account: String
    let id: RecordID
    let call: TokenCall
  }

  /// Where answers are left that end after a lock; it holds no key that opens anything.
  var lateAnswerStore: (any LateAnswerStore)?
  /// By number.
  private var calls: [UInt64: Call] = [:]
  /// Requests that are no token calls of an account and hold a secret: of a login, or to revoke a token.
  private var others = 0
  /// Of these the ones that bring the tokens of a login, by its client.
  private var logins: [String: Int] = [:]
  /// What came while the vault was being opened.
  private var lateTokens: [(id: RecordID, late: LateToken)] = []

  var isEmpty: Bool { calls.isEmpty && others == 0 }

  mutating func begin(_ call: Call) { calls[call.call.number] = call }

  /// The call of that number has ended; nil: it was ended before.
  mutating func end(_ number: UInt64) -> Call? { calls.removeValue(forKey: number) }

  /// Calls of `id` with the refresh token `token`, the oldest first.
  func calls(of id: RecordID, with token: Secret) -> [TokenCall] {
    calls.values.filter { $0.id == id && $0.call.grant.refreshToken == token }
      .map(\.call).sorted { $0.number < $1.number }
  }

  mutating func beginOther() { others += 1 }

  mutating func endOther() { others -= 1 }

  /// Whether tokens of a login by the client `id` are on their way.
  func bringsTokens(of id: String) -> Bool { logins[id] != nil }

  mutating func beginLogin(by id: String) {
    beginOther()
    logins[id, default: 0] += 1
  }

  mutating func endLogin(by id: String) {
    endOther()
    logins[id] = logins[id].flatMap { $0 > 1 ? $0 - 1 : nil }
  }

  mutating func keep(_ late: LateToken, of id: RecordID) { lateTokens.append((id, late)) }

  func lateTokens(of id: RecordID) -> [LateToken] { lateTokens.filter { $0.id == id }.map(\.late) }

  mutating func forgetLateTokens() { lateTokens = [] }
}
