import AgentWire
import Foundation
import Testing

@testable import AgentClient

@Suite("A connection that is told of events")
struct EventStreamTests {
  private static let answer = #"{"jsonrpc":"2.0","id":1,"result":{}}"# + "\n"
  private static let event = #"{"jsonrpc":"2.0","method":"events.lost","params":{"count":1}}"# + "\n"

  /// Subscribes to an agent that does `act`, and then runs `body`, on a thread of its own.
  private func subscribed<R: Sendable>(
    _ act: FakeAgent.Act, _ body: @escaping @Sendable (EventStream) -> R
  ) async -> Result<R, ClientError> {
    let folder = PrivateFolder()
    let location = SocketLocation(path: "\(folder.path)/agent.sock", source: .runtimeDirectory)
    let agent = FakeAgent(at: location.path, [act])
    defer { agent.stop() }
    return await onThread {
      do throws(ClientError) { return .success(body(try EventStream(to: location))) } catch { return .failure(error) }
    }
  }

  @Test("An event that comes with the answer is no mistake; silence is quiet; a reader that went away ends the wait")
  func waits() async {
    let wakes = await subscribed(.raw(Self.answer + Self.event)) { stream -> [EventStream.Wake] in
      var pipe: [Int32] = [-1, -1]
      _ = Glibc.pipe(&pipe)
      var wakes = [stream.wait(milliseconds: 1, output: pipe[1])]
      close(pipe[0])
      wakes.append(stream.wait(milliseconds: nil, output: pipe[1]))
      close(pipe[1])
      return wakes
    }
    #expect(wakes == .success([.quiet, .unread]))
  }

  @Test("What is told wakes, and the end of the agent is told apart from it")
  func ends() async {
    let closed = await subscribed(.writeAndClose(Self.answer)) { $0.wait(milliseconds: nil, output: STDOUT_FILENO) }
    #expect(closed == .success(.closed))
    let told = await subscribed(.answerAndThen(Self.answer, Self.event)) {
      $0.wait(milliseconds: nil, output: STDOUT_FILENO)
    }
    #expect(told == .success(.told))
  }

  @Test("An agent that knows no events says so, and one that goes away is no success")
  func refusals() async {
    let failure = AgentFailure(.unsupportedMethod, "no such method")
    let line = String(decoding: AnswerLine.failure(.number(1), failure), as: UTF8.self)
    #expect(await subscribed(.raw(line)) { _ in 0 } == .failure(.failure(failure)))
    #expect(await subscribed(.closeAtOnce) { _ in 0 } == .failure(.protocolViolation("it ended the connection")))
    guard case .failure(.protocolViolation) = await subscribed(.raw("x\n"), { _ in 0 }) else {
      Issue.record("taken for an answer")
      return
    }
  }
}
