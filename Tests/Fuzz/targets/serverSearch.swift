// What leads from a URL to its authorization server: a challenge, metadata of a resource, metadata of a server. Each line is
// the next answer; its first byte chooses the status, where it came from, and whether it is a challenge.

import HTTPTerms
import OAuthProtocol
import Sealing

/// libFuzzer calls this for every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeRawBufferPointer(start: start, count: count)
  guard var search = try? ServerSearch("https://api.example/mcp") else { preconditionFailure("the URL is refused") }
  var isPublic = true
  var requests = 1
  for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
    let first = line.first ?? 0
    let text = line.dropFirst()
    isPublic = isPublic && first & 8 == 0
    let challenge =
      first & 4 == 0 ? [] : [HTTPField("WWW-Authenticate", String(decoding: text, as: UTF8.self))]
    let answer = HTTPAnswer(
      status: [200, 401, 404, 429][Int(first & 3)], headers: challenge, body: Secret(text),
      isFromPublicAddress: first & 8 == 0)
    switch search.judge(.answered(answer), now: 1_700_000_000) {
    case .ask(let request):
      requests += 1
      precondition(requests <= ServerSearch.requestLimit && request.method == .get && request.credentials == nil)
      guard let url = try? WebURL(request.url) else { preconditionFailure("it asks \(request.url)") }
      precondition(!url.origin.isThisMachine, "a server out there leads to this machine")
      precondition(request.isPublicOnly || url.origin.host == "api.example" || !isPublic, "and into its network")
    case .found(let found):
      precondition(!found.metadata.tokenEndpoint.origin.isThisMachine)
      return 0
    case .failed(let failure):
      precondition(!failure.description.utf8.contains { $0 < 0x20 || $0 == 0x7F })
      return 0
    }
  }
  return 0
}
