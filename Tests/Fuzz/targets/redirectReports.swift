// What the process that serves a browser writes to the agent, at once and in pieces: the same reports either way, and each
// is written as it was read.

import FetchWire

private func reports(_ bytes: UnsafeRawBufferPointer, step: Int) -> [RedirectReport]? {
  var stream = RedirectStream<RedirectReport>()
  var found: [RedirectReport] = []
  var begin = 0
  do {
    while begin < bytes.count {
      let end = min(begin + step, bytes.count)
      stream.append(UnsafeRawBufferPointer(rebasing: bytes[begin..<end]))
      begin = end
      while let report = try stream.next() { found.append(report) }
    }
    return found
  } catch { return nil }
}

/// libFuzzer calls this for every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeRawBufferPointer(start: start, count: count)
  let whole = reports(bytes, step: max(1, count))
  precondition(whole == reports(bytes, step: max(1, count / 64)), "the cut changes what is read")
  for report in whole ?? [] {
    // Bytes that are no UTF-8 grow when they are read, and may then be too many.
    guard let again = try? report.encoded() else { continue }
    again.withUnsafeBytes { precondition(reports($0, step: $0.count) == [report], "it is not what was written") }
  }
  return 0
}
