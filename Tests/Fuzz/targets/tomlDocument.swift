// A configuration file: read or refused with a line of it, never a crash. What the parser behind the reader takes with
// `assert` must not reach it.

/// libFuzzer calls this for every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeRawBufferPointer(start: start, count: count))
  guard bytes.count <= ConfigurationLimits.fileBytes else { return 0 }
  do throws(TOMLDocument.SyntaxError) {
    let document = try TOMLDocument(bytes)
    // Every key has a line, if its name has no dot: with one it may stand for another's.
    for key in document.values.keys { precondition(document.line(of: key) != 0) }
    _ = document.changed { $0 + "x" }
  } catch {
    let lines = bytes.count { $0 == 0x0A } + 1
    precondition(error.line.map { (1...lines).contains($0) } != false, "a line that is not there")
    precondition(!error.reason.isEmpty)
  }
  return 0
}
