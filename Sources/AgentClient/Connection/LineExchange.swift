import AgentWire
import Glibc

/// One request line out, one answer line in, before a deadline.
struct LineExchange {
  let socket: Descriptor
  let deadline: Deadline
  /// Whether more may come after the answer; it is not kept.
  var mayGoOn = false
  /// Called once, when there was no answer for ``UnresponsiveAgent/milliseconds``; what it throws ends the wait.
  var whenQuiet: ((UnresponsiveAgent) throws(ClientError) -> Void)?

  /// Room for a token's answer. It is wiped whole when it is freed, so more would touch pages that most answers do not
  /// need.
  private static let chunkBytes = 4 << 10

  /// The answer without its line feed, or nil when the other end went before it was whole.
  func run(_ request: [UInt8]) throws(ClientError) -> [UInt8]? {
    // An agent that refuses a connection answers and closes without reading: a request that cannot be sent does not
    // mean that there is no answer.
    _ = try send(request)
    return try receive()
  }

  private func send(_ bytes: [UInt8]) throws(ClientError) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(socket.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
      }
      if count >= 0 {
        sent += count
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN: try deadline.wait(for: socket, POLLOUT)
      default: return false
      }
    }
    return true
  }

  private static func lineEnd(in chunk: [UInt8]) -> Int? {
    chunk.withUnsafeBytes { bytes in
      bytes.baseAddress.flatMap { start in
        memchr(start, Int32(UInt8(ascii: "\n")), bytes.count).map { UnsafeRawPointer($0) - start }
      }
    }
  }

  private func receive() throws(ClientError) -> [UInt8]? {
    var line: [UInt8] = []
    var whenQuiet = whenQuiet
    while true {
      var count = 0
      // Not filled with zeros before, for the same reason.
      var chunk = [UInt8](unsafeUninitializedCapacity: Self.chunkBytes) { buffer, filled in
        count = recv(socket.number, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
        filled = max(0, count)
      }
      if count == 0 { return nil }
      if count < 0 {
        switch errno {
        case EINTR: continue
        case EAGAIN:
          guard let told = whenQuiet else {
            try deadline.wait(for: socket, POLLIN)
            continue
          }
          guard try !deadline.wait(for: socket, POLLIN, atMost: UnresponsiveAgent.milliseconds) else { continue }
          whenQuiet = nil
          try told(UnresponsiveAgent(behind: socket))
        case ECONNRESET: return nil
        case let number: throw .protocolViolation(describe(errno: number))
        }
        continue
      }
      guard let end = Self.lineEnd(in: chunk) else {
        line += chunk
        guard line.count < WireLimits.answerBytes else {
          throw .protocolViolation("the answer is longer than \(WireLimits.answerBytes) bytes")
        }
        continue
      }
      guard mayGoOn || end == count - 1 else { throw .protocolViolation("more came than one answer") }
      chunk.removeLast(count - end)
      if line.isEmpty { line = chunk } else { line += chunk }
      guard line.count < WireLimits.answerBytes else {
        throw .protocolViolation("the answer is longer than \(WireLimits.answerBytes) bytes")
      }
      return line
    }
  }
}
