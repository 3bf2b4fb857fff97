// A private key as somebody gives it: PEM, a JWK, the key file of a service account.

import OAuthProtocol
import Sealing

/// libFuzzer calls this for every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeRawBufferPointer(start: start, count: count)
  do throws(ProtocolError) {
    let key = try GivenKey(Secret(bytes))
    precondition(bytes.count <= GivenKey.limitBytes)
    precondition(key.der.count <= bytes.count + 64, "more than the text can hold")
    precondition(key.expectedX.map { $0.count == 32 } ?? true)
  } catch {
    guard case .clientAuthentication(let reason) = error else { preconditionFailure("\(error)") }
    precondition(reason.utf8.allSatisfy { (0x20...0x7E).contains($0) })
  }
  return 0
}
