import FoundationEssentials
import Testing

@testable import AgentWire

/// A line, and the whole answer of an agent that answers `{}` to every good request.
struct RequestVector: Codable, CustomTestStringConvertible {
  var name: String
  /// Or `hex`, for lines that are no UTF-8.
  var line: String?
  var hex: String?
  var answer: String

  var testDescription: String { name }

  var bytes: [UInt8] {
    if let line { return Array(line.utf8) }
    let digits = Array((hex ?? "").utf8)
    return stride(from: 0, to: digits.count, by: 2).compactMap {
      UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
    }
  }

  static let all: [RequestVector] = vectorLines("requests.jsonl").compactMap {
    try? JSONDecoder().decode(RequestVector.self, from: Data($0.utf8))
  }
}

/// The lines of a file of vectors beside these tests.
func vectorLines(_ name: String, from file: String = #filePath) -> [String] {
  let folder = file.split(separator: "/").dropLast().joined(separator: "/")
  guard let data = FileManager.default.contents(atPath: "/\(folder)/Vectors/\(name)") else { return [] }
  return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
}

/// Reads a line as an agent does, and answers `{}`.
func answer(to line: [UInt8]) -> [UInt8] {
  do {
    let request = try RequestLine(line)
    do {
      try readParameters(of: request)
      return AnswerLine.success(request.id, EmptyResult())
    } catch {
      return AnswerLine.failure(request.id, error)
    }
  } catch {
    return AnswerLine.failure(error.id, error.failure)
  }
}

private func readParameters(of request: RequestLine) throws(AgentFailure) {
  try request.method.withParameters { type throws(AgentFailure) in _ = try request.parameters(type) }
}

@Suite("Request lines")
struct RequestVectorTests {
  @Test("the file of vectors is read whole") func fileIsRead() {
    #expect(RequestVector.all.count == vectorLines("requests.jsonl").count)
    #expect(RequestVector.all.count >= 110)
  }

  @Test("every line is answered as the vectors say", arguments: RequestVector.all)
  func lineIsAnswered(vector: RequestVector) {
    #expect(String(decoding: answer(to: vector.bytes), as: UTF8.self) == vector.answer + "\n")
  }

  @Test("a line of the greatest length is read, one byte more is refused")
  func greatestLength() throws {
    let frame = #"{"jsonrpc":"2.0","id":1,"method":"account.show","params":{"account":""}}"#
    let room = WireLimits.requestBytes - 1 - frame.utf8.count
    func line(_ count: Int) -> [UInt8] {
      Array(frame.replacing("\"\"", with: "\"\(String(repeating: "a", count: count))\"").utf8)
    }
    #expect(line(room).count == WireLimits.requestBytes - 1)
    #expect(answer(to: line(room)) == AnswerLine.success(.number(1), EmptyResult()))
    #expect(throws: RefusedLine.self) { try RequestLine(line(room + 1)) }
  }

  @Test("a request that is read with the parameters of another method is a failure, not a guess")
  func otherParameters() throws {
    let request = try RequestLine(Array(#"{"jsonrpc":"2.0","id":1,"method":"agent.hello"}"#.utf8))
    #expect(throws: AgentFailure.self) { try request.parameters(Logout.self) }
  }

  @Test("parameters are there once: they may hold a secret, and the request outlives its reading")
  func parametersOnce() throws {
    let line = #"{"jsonrpc":"2.0","id":1,"method":"vault.unlock","params":{"passphrase":"open"}}"#
    let request = try RequestLine(Array(line.utf8))
    #expect(try request.parameters(VaultUnlock.self).passphrase == "open")
    #expect(throws: AgentFailure.self) { try request.parameters(VaultUnlock.self) }
  }
}

@Suite("Answer lines")
struct AnswerLineTests {
  @Test("a failure is read as it was printed")
  func failureRoundTrip() throws {
    var failure = AgentFailure(
      .rateLimited, "slow \"down\"\n", hint: "wait", retryAfterMilliseconds: 1500, oauthError: "slow_down",
      oauthErrorDescription: "é", maximumValiditySeconds: 3)
    failure.obstacleKey = "dpop"
    let line = AnswerLine.failure(.string("a\"b"), failure)
    let text =
      #"{"jsonrpc":"2.0","id":"a\"b","error":{"code":20,"data":{"failure":"rate_limited","hint":"wait","#
      + #""interaction_required":false,"max_validity_s":3,"obstacle_key":"dpop","oauth_error":"slow_down","#
      + #""oauth_error_description":"é","retry_after_ms":1500,"retryable":true},"message":"slow \"down\"\n"}}"# + "\n"
    #expect(String(decoding: line, as: UTF8.self) == text)
    let (id, result) = try AnswerLine.parse(Array(line.dropLast()), as: EmptyResult.self)
    #expect(id == .string("a\"b"))
    #expect(throws: failure) { try result.get() }
  }

  @Test("unknown members of an answer are ignored")
  func unknownMembers() throws {
    let line = #"{"jsonrpc":"2.0","id":3,"result":{"result":"marked","later":[{}]},"trace":1}"#
    let (id, result) = try AnswerLine.parse(Array(line.utf8), as: TokenRejectAnswer.self)
    #expect(id == .number(3))
    #expect(try result.get() == TokenRejectAnswer(.marked))
  }

  @Test("a failure that this client does not know reads as internal")
  func unknownFailure() throws {
    let line = #"{"jsonrpc":"2.0","id":null,"error":{"code":99,"message":"m","data":{"failure":"new_one"}}}"#
    let (id, result) = try AnswerLine.parse(Array(line.utf8), as: EmptyResult.self)
    #expect(id == nil)
    #expect(throws: AgentFailure(.internal, "m")) { try result.get() }
  }

  @Test(
    "what is no answer is refused",
    arguments: [
      "", "{", "[]", "{}", #"{"jsonrpc":"2.0","id":1}"#, #"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
      #"{"jsonrpc":"2.0","result":{}}"#, #"{"id":1,"result":{}}"#, #"{"jsonrpc":"2.0","id":1.5,"result":{}}"#,
      #"{"jsonrpc":"2.0","id":1,"result":5}"#, #"{"jsonrpc":"2.0","id":1,"error":{"message":"m"}}"#,
      #"{"jsonrpc":"2.0","id":1,"id":2,"result":{}}"#, #"{"jsonrpc":"2.0","id":1,"result":{}} "# + "\r",
    ])
  func malformed(line: String) {
    #expect(throws: MalformedAnswer.self) { try AnswerLine.parse(Array(line.utf8), as: TokenRejectAnswer.self) }
  }

  @Test("an answer beyond the limit becomes a failure")
  func tooLong() throws {
    let line = AnswerLine.success(.number(1), [String(repeating: "x", count: WireLimits.answerBytes)])
    #expect(line.count < 1_000)
    let (_, result) = try AnswerLine.parse(Array(line.dropLast()), as: [String].self)
    #expect(throws: AgentFailure.self) { try result.get() }
  }

  @Test("a code belongs to one failure alone")
  func codes() {
    #expect(Set(FailureKind.allCases.map(\.code)).count == FailureKind.allCases.count)
  }
}
