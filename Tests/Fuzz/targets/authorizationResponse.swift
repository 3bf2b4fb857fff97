// What the browser, or anything else on this machine, asks of the redirect listener; and what a person pastes.

import OAuthProtocol
import Sealing

private let state = Secret("the-state-of-this-login".utf8)

/// libFuzzer calls this for every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeRawBufferPointer(start: start, count: count)
  let text = String(decoding: bytes, as: UTF8.self)
  guard
    let expected = try? AuthorizationExpectation(
      redirectURI: "http://127.0.0.1:8914/callback", state: state, issuer: "https://as.example", issuerRequired: false)
  else { preconditionFailure("the expectation itself is refused") }
  for verdict in [
    expected.judge(method: "GET", target: "/callback?" + text), expected.judge(method: "GET", target: text),
    expected.judge(pasted: text),
  ] {
    switch verdict {
    case .ignore: break
    case .code, .denied, .refused: precondition(text.contains("state="), "decided without the state")
    }
    precondition(!verdict.description.utf8.contains { $0 < 0x20 || $0 == 0x7F })
  }
  return 0
}
