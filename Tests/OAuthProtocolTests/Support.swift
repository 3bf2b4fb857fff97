import OAuthProtocol
import Sealing

/// An answer as a server would send it.
func answer(_ status: Int, _ body: String, _ headers: [HTTPField] = [HTTPField("Content-Type", "application/json")])
  -> HTTPAnswer
{
  HTTPAnswer(status: status, headers: headers, body: Secret(body))
}

func judge(_ status: Int, _ body: String, _ headers: [HTTPField] = [HTTPField("Content-Type", "application/json")])
  -> TokenJudgement
{
  TokenJudgement(judging: answer(status, body, headers), now: 1_000_000)
}

/// A request without secrets, for answers that repeat none.
let anyRequest = HTTPRequest(.post, "https://as.example/")

extension TokenJudgement {
  init(judging answer: HTTPAnswer, now: Int64) { self.init(judging: answer, to: anyRequest, now: now) }
}

extension DeviceAuthorizationVerdict {
  init(judging answer: HTTPAnswer, now: Int64) { self.init(judging: answer, to: anyRequest, now: now) }
}

extension RevocationVerdict {
  init(judging answer: HTTPAnswer, now: Int64) { self.init(judging: answer, to: anyRequest, now: now) }
}

extension TokenVerdict {
  /// A short name for tables.
  var label: String {
    switch self {
    case .granted: "granted"
    case .refused(let error): "refused \(error.code)"
    case .refusedWithoutReason: "no reason"
    case .unusable(let problem, _): "unusable \(problem.label)"
    }
  }

  var grant: TokenResponse? { if case .granted(let grant) = self { grant } else { nil } }
  var retryAfterSeconds: Int? { if case .unusable(_, let seconds) = self { seconds } else { nil } }
}

extension TokenAnswerProblem {
  var label: String {
    switch self {
    case .status(let status): "\(status)"
    case .redirect: "redirect"
    case .html: "html"
    case .empty: "empty"
    case .tooLarge: "large"
    case .malformed: "malformed"
    case .contradictory: "contradictory"
    case .transient(let error): "transient \(error.code)"
    case .duplicateMember(let name): "duplicate \(name)"
    case .accessTokenMissing: "no token"
    case .accessTokenMalformed: "bad token"
    case .notBound: "not bound"
    case .tokenType: "type"
    case .issuedTokenType: "issued type"
    }
  }
}

/// 0, 1, 2, … instead of randomness.
struct CountingRandom: RandomSource {
  func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0) } }
}

/// The parameters of a form body, decoded, as `name=value` lines.
func lines(_ request: HTTPRequest) throws -> [String] {
  try request.body.withBytes { try FormFields(decoding: $0) }.members.map { "\($0.name)=\($0.value.reveal())" }
}

func lines(query url: String) throws -> [String] {
  let query = url.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
  return try FormFields(decoding: query.utf8).members.map { "\($0.name)=\($0.value.reveal())" }
}
