// An ID token: a JWS whose header and claims a server has written. The first byte says how the rest is one: the token as
// it came, or a header and claims in a line each, which are encoded here.

import OAuthProtocol
import Sealing

private let now: Int64 = 1_700_000_000

private func isPlain(_ text: String) -> Bool {
  text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
}

/// libFuzzer calls this for every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeRawBufferPointer(start: start, count: count)
  guard let first = bytes.first else { return 0 }
  var text = Secret(bytes.dropFirst())
  if first & 1 == 1 {
    let parts = bytes.dropFirst().split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
    text = Secret((parts.map(Base64URL.encode) + ["c2ln"]).joined(separator: "."))
  }
  let token: IDToken
  do throws(IDTokenProblem) { token = try IDToken(text) } catch {
    precondition(isPlain(error.description) && !error.isOfAnotherLogin)
    return 0
  }
  precondition(text.count <= IDToken.limitBytes && token.token == text)
  precondition((1...255).contains(token.subject.utf8.count))
  precondition(token.shownName(hiding: RequestSecrets([])).map(isPlain) ?? true)
  precondition(token.shownSubject(hiding: RequestSecrets([])).map(isPlain) ?? true)
  var expected = IDTokenExpectation(
    issuer: "https://id.example", isIssuerConfirmed: first & 2 == 0, clientID: "app",
    nonce: [.any, .required("n"), .same(as: nil), .same(as: "n")][Int(first >> 2 & 3)], accessToken: Secret("a"),
    subject: first & 16 == 0 ? nil : "1001", maximumAgeSeconds: first & 32 == 0 ? nil : 60)
  do throws(IDTokenProblem) {
    try expected.check(token, now: now)
    precondition(token.expires > now - 300, "one that has ended is believed")
    precondition(first & 16 == 0 || token.subject == "1001", "somebody else's is believed")
    // What is believed at a confirmed issuer is its own.
    precondition(first & 2 == 2 || token.issuer == "https://id.example")
    expected.clientID = "another"
    do throws(IDTokenProblem) {
      try expected.check(token, now: now)
      preconditionFailure("one token is for each of two clients alone")
    } catch {}
  } catch { precondition(isPlain(error.description) && isPlain(error.logLine)) }
  return 0
}
