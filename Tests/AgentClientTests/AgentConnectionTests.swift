import AgentWire
import Foundation
import Testing

@testable import AgentClient

@Suite("A connection to the agent")
struct AgentConnectionTests {
  let folder = PrivateFolder()
  var location: SocketLocation { SocketLocation(path: "\(folder.path)/agent.sock", source: .runtimeDirectory) }

  /// Calls one method, on a thread of its own.
  private func call<P: RequestParameters>(
    _ parameters: P, at location: SocketLocation? = nil, timeoutMilliseconds: Int = 60_000
  ) async -> Result<P.Answer, ClientError> {
    let location = location ?? self.location
    return await onThread {
      do throws(ClientError) {
        return .success(
          try AgentConnection(to: location).call(parameters, timeoutMilliseconds: timeoutMilliseconds))
      } catch {
        return .failure(error)
      }
    }
  }

  private func run(_ script: [FakeAgent.Act], _ body: (FakeAgent) async -> Void) async {
    let agent = FakeAgent(at: location.path, script)
    await body(agent)
    agent.stop()
  }

  @Test("carries one request after another")
  func twoCalls() async {
    await run([.answer(#"{"result":"marked"}"#)]) { agent in
      let location = location
      let verdicts = await onThread { () -> [TokenRejectAnswer] in
        guard let connection = try? AgentConnection(to: location) else { return [] }
        return (0..<2).compactMap { _ in
          try? connection.call(TokenReject(account: "work", rejected: RejectedToken(fingerprint: "sha256:00")))
        }
      }
      #expect(verdicts == [TokenRejectAnswer(.marked), TokenRejectAnswer(.marked)])
      #expect(agent.received.count == 2)
      #expect(agent.received.first?.contains("\"token.reject\"") == true)
    }
  }

  @Test("gives the agent's failure as it is", arguments: ["1", "null"])
  func failure(id: String) async {
    let failure = AgentFailure(.accountUnknown, "there is no account work", hint: .run("oauthctl account list"))
    let line = String(decoding: AnswerLine.failure(id == "1" ? .number(1) : nil, failure), as: UTF8.self)
    await run([.raw(line)]) { _ in
      #expect(await call(Logout(account: "work")) == .failure(.failure(failure)))
    }
  }

  @Test(
    "connects once more when the agent went before it answered",
    arguments: [FakeAgent.Act.closeAtOnce, .closeAfterReading, .writeAndClose(#"{"jsonrpc":"2.0","id":1,"res"#)])
  func repeats(first: FakeAgent.Act) async {
    await run([first, .answer(#"{"revocation":"none"}"#)]) { _ in
      #expect(await call(Logout(account: "work")) == .success(LogoutAnswer(revocation: .none)))
    }
  }

  @Test("sends the same bytes again")
  func sameBytes() async {
    await run([.closeAfterReading, .answer(#"{"revocation":"none"}"#)]) { agent in
      #expect(await call(Logout(account: "work")) == .success(LogoutAnswer(revocation: .none)))
      #expect(agent.received.count == 2)
      #expect(Set(agent.received).count == 1)
    }
  }

  @Test("repeats nothing that may not be done twice")
  func notRepeatable() async {
    await run([.closeAfterReading, .answer("{}")]) { agent in
      let result = await call(SecretSet(account: "work", kind: .password, value: "hunter2"))
      guard case .failure(.notReachable(_, let reason, _, _)) = result else {
        Issue.record("\(result)")
        return
      }
      #expect(reason.contains("secret.set"))
      #expect(!reason.contains("hunter2"))
      #expect(agent.received.count == 1)
    }
  }

  @Test("connects again as often as the agent goes, as that of a killed one does for a while")
  func goesOften() async {
    let gone: [FakeAgent.Act] = [
      .closeAfterReading, .closeAtOnce, .closeAfterReading, .closeAtOnce, .closeAfterReading,
    ]
    await run(gone + [.answer(#"{"revocation":"none"}"#)]) { agent in
      #expect(await call(Logout(account: "work")) == .success(LogoutAnswer(revocation: .none)))
      #expect(agent.received.count == 4)
    }
  }

  @Test("gives up when its time is over")
  func goesForEver() async {
    await run([.closeAfterReading]) { agent in
      let result = await call(Logout(account: "work"), timeoutMilliseconds: 100)
      // Whichever comes first: its last try, or the end of its time within one.
      #expect(result.error.map { [6, 7].contains($0.exitStatus) } == true)
    }
  }

  @Test("waits no longer than it was told")
  func timeout() async {
    await run([.silence]) { agent in
      #expect(await call(Logout(account: "work"), timeoutMilliseconds: 30) == .failure(.timeout(milliseconds: 30)))
      #expect(agent.received.count == 1)
    }
  }

  @Test(
    "takes nothing for an answer that is none",
    arguments: [
      "", "garbage", "{}", #"{"jsonrpc":"2.0","id":9,"result":{"revocation":"none"}}"#,
      #"{"jsonrpc":"2.0","id":1,"result":{}}"#, #"{"jsonrpc":"2.0","id":null,"result":{"revocation":"none"}}"#,
      #"{"jsonrpc":"2.0","id":1,"result":{"revocation":"none"}}"# + "\r",
      #"{"jsonrpc":"2.0","id":1,"result":{"revocation":"none"}}"# + "\n{}",
    ])
  func violations(line: String) async { await expectViolation(line) }

  @Test("reads no answer beyond the limit, with or without an end", arguments: ["", "\n"])
  func endless(end: String) async {
    await expectViolation(String(repeating: "x", count: WireLimits.answerBytes) + end)
  }

  private func expectViolation(_ line: String) async {
    let line = line.hasPrefix("xx") ? line : line + "\n"
    await run([.raw(line)]) { _ in
      let result = await call(Logout(account: "work"))
      guard case .failure(.protocolViolation) = result else {
        Issue.record("\(result)")
        return
      }
    }
  }

  @Test("asks again while the agent is overloaded, each time on another connection, until it is answered")
  func overloaded() async {
    let refusal = String(
      decoding: AnswerLine.failure(nil, AgentFailure(.overloaded, "busy", retryAfterMilliseconds: 2)), as: UTF8.self)
    await run([.writeAndClose(refusal), .raw(refusal), .answer(#"{"revocation":"none"}"#)]) { agent in
      let location = location
      let answer = await onThread { () -> LogoutAnswer? in
        try? askingAgain(timeoutMilliseconds: 60_000) { milliseconds throws(ClientError) in
          try AgentConnection(to: location).call(Logout(account: "work"), timeoutMilliseconds: milliseconds)
        }
      }
      #expect(answer == LogoutAnswer(revocation: .none))
      #expect(agent.received.count == 3)
    }
  }

  @Test(
    "no longer than the caller waits, and after no other failure",
    arguments: [(FailureKind.overloaded, 2...200), (.unavailable, 1...1)])
  func overloadedForEver(_ kind: FailureKind, _ tries: ClosedRange<Int>) async {
    let line = String(
      decoding: AnswerLine.failure(nil, AgentFailure(kind, "busy", retryAfterMilliseconds: 5)), as: UTF8.self)
    await run([.raw(line)]) { agent in
      let location = location
      let error = await onThread { () -> ClientError? in
        do throws(ClientError) {
          _ = try askingAgain(timeoutMilliseconds: 500) { milliseconds throws(ClientError) in
            try AgentConnection(to: location).call(Logout(account: "work"), timeoutMilliseconds: milliseconds)
          }
          return nil
        } catch { return error }
      }
      #expect(error?.exitStatus == 6)
      #expect(tries.contains(agent.received.count))
    }
  }

  @Test("is not out of step after a time-out")
  func afterTimeout() async {
    await run([.silence, .answer(#"{"revocation":"none"}"#)]) { agent in
      let location = location
      let answer = await onThread { () -> LogoutAnswer? in
        guard let connection = try? AgentConnection(to: location) else { return nil }
        _ = try? connection.call(Logout(account: "a"), timeoutMilliseconds: 30)
        return try? connection.call(Logout(account: "b"))
      }
      #expect(answer == LogoutAnswer(revocation: .none))
      #expect(agent.received.count == 2)
    }
  }

  @Test("sends no request that the agent would refuse for its length")
  func tooLong() async {
    await run([.answer("{}")]) { agent in
      let value = String(repeating: "x", count: WireLimits.requestBytes)
      let result = await call(SecretSet(account: "work", kind: .password, value: value))
      #expect(result.error?.exitStatus == 1)
      #expect(agent.received.isEmpty)
    }
  }

  @Test("hands over the line of a token without a coder")
  func tokenLine() async {
    let answer =
      #"{"access_token":"t0ken","account":"work","account_id":"00","fingerprint":"f","scope":[],"token_type":"Bearer"}"#
    await run([.answer(answer)]) { agent in
      let location = location
      let token = await onThread { () -> String? in
        let request = TokenLine.printRequest(.init(id: .number(1), account: "work"))
        guard let line = try? AgentConnection(to: location).tokenAnswer(requestLine: request),
          let found = line.withUnsafeBytes({ TokenLine.scanAnswer($0) })
        else { return nil }
        return String(decoding: line[found.accessToken], as: UTF8.self)
      }
      #expect(token == "t0ken")
      #expect(agent.received == [#"{"jsonrpc":"2.0","id":1,"method":"token.get","params":{"account":"work"}}"#])
    }
  }

  @Test("says that nobody is there")
  func nobody() async {
    let result = await call(Logout(account: "work"))
    #expect(result.error?.exitStatus == 7)
    #expect(result.error?.hint?.text.contains("starts it") == true)
  }
}

extension Result {
  var error: Failure? {
    if case .failure(let error) = self { return error }
    return nil
  }
}
