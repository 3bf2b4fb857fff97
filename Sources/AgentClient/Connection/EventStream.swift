package import AgentWire
import Glibc

/// A connection that the agent tells of changes (`events.subscribe`); blocking. What it tells is not read here: whoever
/// is woken looks at the agent.
package final class EventStream {
  package enum Wake: Sendable, Equatable {
    case told
    /// Nothing came in the given time.
    case quiet
    /// The agent is gone, or turned us away for being slow.
    case closed
    /// Nobody reads `output` any more.
    case unread
  }

  private let socket: Descriptor

  /// Connects to a running agent, starting none, and subscribes. Every later change is sent.
  ///
  /// Throws `failure` when an agent does not know events or has too many subscribers, else as ``AgentConnection``.
  package init(to location: SocketLocation) throws(ClientError) {
    do throws(SocketConnector.Refusal) {
      socket = try SocketConnector(location: location, uid: geteuid()).open()
    } catch { throw AgentConnection.unreachable(location, error) }
    let deadline = Deadline(milliseconds: AgentConnection.defaultTimeoutMilliseconds)
    let exchange = LineExchange(socket: socket, deadline: deadline, mayGoOn: true)
    let request = RequestEncoder.line(id: .number(1), EventsSubscribe())
    let answer = try ClientTrace.timed(Method.eventsSubscribe.rawValue) { () throws(ClientError) in
      try exchange.run(request)
    }
    guard let line = answer else {
      throw .protocolViolation("it ended the connection")
    }
    do {
      if case .failure(let failure) = try AnswerLine.parse(line, as: EmptyResult.self).result {
        throw ClientError.failure(failure)
      }
    } catch let error as MalformedAnswer {
      throw .protocolViolation(error.reason)
    } catch let error as ClientError { throw error } catch { throw .protocolViolation("\(error)") }
  }

  /// Waits until something comes, `milliseconds` at most (nil: without end), or nobody reads `output`.
  package func wait(milliseconds: Int32?, output: Int32) -> Wake {
    // A reader that went away shows as an error, which is always told.
    var requests = [
      pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0), pollfd(fd: output, events: 0, revents: 0),
    ]
    let count = poll(&requests, 2, milliseconds ?? -1)
    guard count != 0 else { return .quiet }
    guard count > 0 else { return errno == EINTR ? .quiet : .closed }
    if requests[1].revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 { return .unread }
    return drain()
  }

  private func drain() -> Wake {
    var chunk = [UInt8](repeating: 0, count: 16 << 10)
    // However fast more comes: that is told by the next wait.
    for _ in 0..<64 {
      let count = recv(socket.number, &chunk, chunk.count, Int32(MSG_DONTWAIT))
      if count > 0 { continue }
      return count < 0 && (errno == EAGAIN || errno == EINTR) ? .told : .closed
    }
    return .told
  }
}
