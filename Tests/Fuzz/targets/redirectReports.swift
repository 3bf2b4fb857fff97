// What the process that serves a browser and the agent write to each other, at once and in pieces: the same messages either
// way, and each is written as it was read.

import FetchWire

private func messages<Message: RedirectMessage & Equatable>(
  _ bytes: UnsafeRawBufferPointer, step: Int, as: Message.Type
) -> [Message]? {
  var stream = RedirectStream<Message>()
  var found: [Message] = []
  var begin = 0
  do {
    while begin < bytes.count {
      let end = min(begin + step, bytes.count)
      stream.append(UnsafeRawBufferPointer(rebasing: bytes[begin..<end]))
      begin = end
      while let message = try stream.next() { found.append(message) }
    }
    return found
  } catch { return nil }
}

private func check<Message: RedirectMessage & Equatable>(
  _ bytes: UnsafeRawBufferPointer, _ encoded: (Message) throws -> [UInt8]
) {
  let whole = messages(bytes, step: max(1, bytes.count), as: Message.self)
  precondition(
    whole == messages(bytes, step: max(1, bytes.count / 64), as: Message.self), "the cut changes what is read")
  for message in whole ?? [] {
    // Bytes that are no UTF-8 grow when they are read, and may then be too many.
    guard let again = try? encoded(message) else { continue }
    again.withUnsafeBytes {
      precondition(messages($0, step: $0.count, as: Message.self) == [message], "it is not what was written")
    }
  }
}

/// libFuzzer calls this for every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeRawBufferPointer(start: start, count: count)
  check(bytes) { (report: RedirectReport) in try report.encoded() }
  check(bytes) { (order: RedirectOrder) in try order.encoded() }
  return 0
}
