// WWW-Authenticate, as the agent and as the helpers read it.

import HelperFormats
import OAuthProtocol

/// libFuzzer calls this for every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeRawBufferPointer(start: start, count: count)
  let text = String(decoding: bytes, as: UTF8.self)
  let fields = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  _ = AuthenticationChallenge.parse(fields)
  if let bearer = BearerChallenge.find(in: fields) { _ = (bearer.advice, bearer.description) }
  _ = BearerVerdict(fields.flatMap(Challenge.parse))
  _ = HeaderDump(Array(bytes))
  return 0
}
