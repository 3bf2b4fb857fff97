import Testing

@testable import AgentRuntime

@Suite("Lines of keys")
struct TOMLKeyLinesTests {
  @Test("The line of a key is found whatever stands before it")
  func lines() throws {
    let text = #"""
      # a = 1
      first = """
      second = 1
      "" \""""
      second = 'its' # x = 1
      third = [ # comment ]
        "a]", 'b[',
      ]
      "quoted key".inner = 1
      [table]
      key = { second = 2, x = "}" }
      ['table'."two"]
      key = '''
      [nothing]
      '''
      last = 1
      odd = """a""""
      after = 1
      """#
    let lines = try TOMLKeyLines(text)
    let expected = [
      "first": 2, "second": 5, "third": 6, "quotedkey.inner": nil, "quoted key.inner": 9, "table": 10, "table.key": 11,
      "table.key.x": 11, "table.two.key": 13, "table.two.last": 16,
      "table.two.after": 18, "nothing": nil, "x": nil, "a": nil,
    ]
    for (key, line) in expected { #expect(lines.line(of: key) == line, "\(key)") }
  }
}
