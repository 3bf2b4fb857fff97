// What the HTTP process writes to the agent, at once and byte by byte: the same events either way.

import FetchWire

private func events(_ bytes: UnsafeRawBufferPointer, step: Int) -> [FetchEvent]? {
  var reader = FetchEventReader()
  var found: [FetchEvent] = []
  var end = min(step, bytes.count)
  do {
    while true {
      while let event = try reader.next(UnsafeRawBufferPointer(rebasing: bytes[..<end])) { found.append(event) }
      if end == bytes.count { return found }
      end = min(end + step, bytes.count)
    }
  } catch { return nil }
}

/// libFuzzer calls this for every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeRawBufferPointer(start: start, count: count)
  let whole = events(bytes, step: max(1, count))
  // Of long inputs only some cuts: each step looks at the stream from where it stopped.
  precondition(whole == events(bytes, step: max(1, count / 64)), "the cut changes what is read")
  return 0
}
