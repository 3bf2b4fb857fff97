import FetchWire
import Testing

@Suite("What the helper reports")
struct AnswerTests {
  @Test("An answer is written in the documented bytes and read back")
  func vector() throws {
    let expected = hex("11 00000000  12 0000000b 00c8 01 0001 0001 4e 0001 76  13 00000002 7b7d")
    var bytes = try FetchFrame.header(.sent, length: 0)
    bytes +=
      try FetchAnswer.encoded(status: 200, isFromPublicAddress: true, headers: [FetchField("N", "v")], bodyBytes: 2)
      + Array("{}".utf8)
    #expect(bytes == expected)
    var reader = FetchEventReader()
    let end = bytes.count
    let answer = FetchAnswer(
      status: 200, isFromPublicAddress: true, headers: [FetchField("N", "v")], body: (end - 2)..<end)
    #expect(try reader.all(bytes) == [.sent, .answer(answer)])
    #expect(reader.sent)
  }

  @Test("What came of an answer that has no end is read back with why")
  func cut() throws {
    let expected = hex("11 00000000  15 00000005 02 0002 6e6f  12 00000005 00c8 00 0000  13 00000001 7b")
    let failure = FetchFailure(.connection, "no")
    var bytes = try FetchFrame.header(.sent, length: 0) + failure.encoded(as: .answerCut)
    bytes +=
      try FetchAnswer.encoded(status: 200, isFromPublicAddress: false, headers: [], bodyBytes: 1) + Array("{".utf8)
    #expect(bytes == expected)
    var answer = FetchAnswer(
      status: 200, isFromPublicAddress: false, headers: [], body: (bytes.count - 1)..<bytes.count)
    answer.cut = failure
    var reader = FetchEventReader()
    #expect(try reader.all(bytes) == [.sent, .answer(answer)])
  }

  @Test("A failure is written in the documented bytes and read back")
  func failure() throws {
    let bytes = try FetchFailure(.tls, "no").encoded()
    #expect(bytes == hex("14 00000005 03 0002 6e6f"))
    var reader = FetchEventReader()
    #expect(try reader.all(bytes) == [.failure(FetchFailure(.tls, "no"))])
    #expect(!reader.sent)
  }

  @Test("Every reason keeps its meaning", arguments: FetchFailure.Reason.allCases)
  func reasons(reason: FetchFailure.Reason) throws {
    var reader = FetchEventReader()
    let bytes = try FetchFailure(reason, "x").encoded()
    #expect(try reader.one(bytes) == .failure(FetchFailure(reason, "x")))
  }

  @Test("Events come out as soon as their last byte is in")
  func incremental() throws {
    let bytes = try sampleAnswerBytes()
    var reader = FetchEventReader()
    var seen: [(Int, FetchEvent)] = []
    for length in 0...bytes.count {
      while let event = try reader.one(Array(bytes[..<length])) { seen.append((length, event)) }
    }
    #expect(seen.map(\.0) == [FetchLimits.frameHeaderBytes, bytes.count])
    #expect(seen.first?.1 == .sent)
  }

  @Test(
    "Frames out of order are refused",
    arguments: [
      "11 00000000 11 00000000",  // sent twice
      "13 00000000",  // a body without a head
      "12 00000005 00c8 00 0000 12 00000005 00c8 00 0000",  // two heads
      "12 00000005 00c8 00 0000 14 00000003 01 0000",  // a failure inside an answer
      "12 00000005 00c8 00 0000 11 00000000",  // sent inside an answer
      "14 00000003 01 0000 14 00000003 01 0000",  // two failures
      "14 00000003 01 0000 11 00000000",  // sent after the end
      "12 00000005 00c8 00 0000 13 00000000 13 00000000",  // two bodies
      "01 00000000", "02 00000000",  // requests
      "15 00000003 01 0000",  // cut before it was sent
      "11 00000000 15 00000003 01 0000 15 00000003 01 0000",  // cut twice
      "11 00000000 12 00000005 00c8 00 0000 15 00000003 01 0000",  // cut behind the head
      "00", "16", "ff",  // no kinds at all
    ])
  func outOfOrder(stream: String) {
    #expect(throws: FetchWireError.self) {
      var reader = FetchEventReader()
      _ = try reader.all(hex(stream))
    }
  }

  @Test(
    "Values outside their range are refused",
    arguments: [
      "11 00000001 00",  // sent has no payload
      "12 00000005 0063 00 0000",  // status 99
      "12 00000005 03e8 00 0000",  // status 1000
      "12 00000005 00c8 02 0000",  // no such network
      "12 00000005 00c8 00 0001",  // a field is missing
      "12 00000006 00c8 00 0000 00",  // a byte too many
      "12 0000000b 00c8 00 0001 0001 20 0001 76",  // a name that is no token
      "12 0000000b 00c8 00 0001 0001 4e 0001 0a",  // a line break in a value
      "12 00000007 00c8 00 ffff 0000",  // more fields than allowed
      "12 0001000a",  // a head above its limit, before it arrives
      "13 00100001",  // a body above its limit, before it arrives
      "14 00000003 00 0000",  // no such reason
      "14 00000003 0f 0000",  // no such reason
      "14 00000003 01 0001",  // a text that ends early
    ])
  func outOfRange(stream: String) {
    #expect(throws: FetchWireError.self) {
      var reader = FetchEventReader()
      _ = try reader.all(hex(stream))
    }
  }

  @Test("The largest body is taken")
  func largestBody() throws {
    let body = [UInt8](repeating: 0x61, count: FetchLimits.answerBodyBytes)
    let bytes =
      try FetchAnswer.encoded(
        status: 204, isFromPublicAddress: false, headers: [], bodyBytes: body.count) + body
    var reader = FetchEventReader()
    guard case .answer(let answer) = try reader.one(bytes) else {
      Issue.record("no answer")
      return
    }
    #expect(answer.body.count == body.count)
    #expect(bytes.count <= FetchLimits.answerStreamBytes)
  }
}
