// What git writes to its credential helper; what is answered holds no line that git did not expect.

import HelperFormats

/// libFuzzer calls this for every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeRawBufferPointer(start: start, count: count)
  guard let request = try? GitCredentialRequest(Array(bytes)) else { return 0 }
  _ = GitOperation.rejected(request)
  guard let lookup = GitLookup(request) else { return 0 }
  let token = HelperToken(
    accessToken: "secret-token", tokenType: "Bearer", expiresAt: 1_800_000_000,
    fingerprint: "sha256:00112233445566778899aabbccddeeff", username: nil, account: "work")
  _ = lookup.secondQuestion(after: token)
  guard let reply = try? lookup.answer(token) else { return 0 }
  let known = [
    "protocol", "host", "path", "username", "password", "authtype", "credential", "password_expiry_utc", "state[]",
    "capability[]", "ephemeral", "continue", "quit",
  ]
  for line in reply.output.split(separator: "\n") {
    precondition(known.contains { line.hasPrefix($0 + "=") }, "an unexpected line")
  }
  return 0
}
