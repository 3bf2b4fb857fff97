// What a server answers to the registration of a client; the first byte chooses the status.

import HTTPTerms
import OAuthProtocol
import Sealing

/// libFuzzer calls this for every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeRawBufferPointer(start: start, count: count)
  guard let first = bytes.first else { return 0 }
  guard let endpoint = try? WebURL("https://as.example/register") else {
    preconditionFailure("the endpoint is refused")
  }
  let registration = ClientRegistration(
    endpoint: endpoint, redirectURI: "http://127.0.0.1:20001/callback", isForDevices: false, scope: [])
  let answer = HTTPAnswer(status: [201, 200, 400, 500][Int(first % 4)], body: Secret(bytes.dropFirst()))
  func isPlain(_ text: String) -> Bool { text.utf8.allSatisfy { (0x20...0x7E).contains($0) } }
  do throws(RegistrationRefusal) {
    let client = try RegisteredClient(judging: answer, of: registration)
    precondition(isPlain(client.id) && (1...RegisteredClient.idLimit).contains(client.id.utf8.count))
    if let management = client.management {
      precondition(management.uri.origin == endpoint.origin && !management.accessToken.isEmpty)
      precondition(client.managementProblem == nil)
    }
    precondition(client.managementProblem.map(isPlain) ?? true)
  } catch {
    precondition(!error.description.utf8.contains { $0 < 0x20 || $0 == 0x7F })
  }
  return 0
}
