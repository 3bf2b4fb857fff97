// WWW-Authenticate, as the helpers read it.

import HTTPTerms
import HelperFormats

/// libFuzzer calls this for every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeRawBufferPointer(start: start, count: count)
  let text = String(decoding: bytes, as: UTF8.self)
  let fields = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  _ = BearerVerdict(Challenge.parse(fields))
  _ = HeaderDump(Array(bytes))
  return 0
}
