import Testing

@testable import AgentRuntime

@Suite("Answers that wait to be taken")
struct UnreadAnswersTests {
  private func append(_ text: String, to answers: inout UnreadAnswers) {
    Array(text.utf8).withUnsafeBytes { answers.append($0) }
  }

  private func next(_ answers: UnreadAnswers) -> String {
    answers.withBytes { String(decoding: $0, as: UTF8.self) }
  }

  @Test("They are lent one behind the other, and counted until they are taken whole")
  func whole() {
    var answers = UnreadAnswers()
    #expect(answers.isEmpty && answers.count == 0 && next(answers) == "")
    append("one\n", to: &answers)
    append("two\n", to: &answers)
    append("three\n", to: &answers)
    #expect(answers.count == 3 && answers.byteCount == 14)
    let wholes = [3, 1, 5, 4, 1].map { answers.take($0) }
    #expect(wholes == [false, true, true, false, true])
    #expect(answers.isEmpty && answers.byteCount == 0 && next(answers) == "")
  }

  @Test("In any steps they are taken in order, with others coming in between")
  func steps() {
    for step in 1...9 {
      var (answers, taken, expected) = (UnreadAnswers(), "", "")
      var wholes = 0
      for number in 100..<140 {
        append("\(number)\n", to: &answers)
        expected += "\(number)\n"
        let part = String(next(answers).prefix(step))
        let before = answers.count
        if answers.take(part.utf8.count) { wholes += before - answers.count }
        taken += part
        #expect(answers.byteCount == expected.utf8.count - taken.utf8.count)
      }
      #expect(taken + next(answers) == expected)
      #expect(wholes + answers.count == 40, "in steps of \(step)")
    }
  }

  @Test("What was taken is not kept, though the caller never takes all")
  func bounded() {
    var answers = UnreadAnswers()
    append("x", to: &answers)
    for _ in 0..<1_000 {
      append("0123456789", to: &answers)
      let isWhole = answers.take(10)
      #expect(isWhole)
    }
    #expect(answers.byteCount == 1 && answers.bytes.count <= 32)
  }
}
