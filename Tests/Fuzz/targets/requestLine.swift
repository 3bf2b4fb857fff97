// A line of a caller: read or refused, never a crash; parameters of every method.

import AgentWire

/// libFuzzer calls this for every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeRawBufferPointer(start: start, count: count)
  guard let request = try? RequestLine(Array(bytes)) else { return 0 }
  precondition(Method.allCases.contains(request.method))
  _ = try? request.parameters(TokenGet.self)
  _ = try? request.parameters(LoginStart.self)
  _ = try? request.parameters(SecretSet.self)
  _ = try? request.parameters(AccountList.self)
  return 0
}
