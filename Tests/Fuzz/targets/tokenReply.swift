// The body of a token endpoint's answer; the first byte chooses the status.

import OAuthProtocol
import Sealing

/// libFuzzer calls this for every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeRawBufferPointer(start: start, count: count)
  guard let first = bytes.first else { return 0 }
  let status = [200, 201, 400, 401, 403, 429, 500, 302][Int(first % 8)]
  let answer = HTTPAnswer(
    status: status, headers: [HTTPField("Content-Type", "application/json"), HTTPField("Retry-After", "5")],
    body: Secret(bytes.dropFirst()))
  let request = HTTPRequest(.post, "https://as.example/token", body: Secret("refresh_token=the-refresh-token"))
  let judgement = TokenJudgement(judging: answer, to: request, now: 1_700_000_000)
  precondition(!"\(judgement.verdict)".contains("refresh-token"))
  if let salvaged = judgement.salvagedRefreshToken { precondition((200..<300).contains(status) && !salvaged.isEmpty) }
  return 0
}
