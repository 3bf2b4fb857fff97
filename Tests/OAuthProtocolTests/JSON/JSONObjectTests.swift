@testable import OAuthProtocol
import Sealing
import Testing

@Suite struct JSONObjectTests {
  @Test(
    "a string is unescaped as RFC 8259 says",
    arguments: [
      (#""plain""#, "plain"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"), (#""\u00e9\u20AC""#, "é€"),
      (#""\ud83d\ude42""#, "🙂"), (#""é""#, "é"), (#""""#, ""), (#""a\u0000b""#, "a\0b"),
    ])
  func strings(text: String, expected: String) {
    let object = JSONObject(reading: Secret("{\"a\":\(text)}"))
    #expect(object.problem == nil)
    #expect(object.text("a", limit: 100) == expected)
  }

  @Test(
    "what is not one JSON object is named as such",
    arguments: [
      ("", .notAnObject), ("[]", .notAnObject), ("\"x\"", .notAnObject), ("null", .notAnObject), ("{", .cutOff),
      ("{\"a\"", .cutOff), ("{\"a\":", .cutOff), ("{\"a\":\"b", .cutOff), ("{\"a\":1", .cutOff), ("{\"a\":tr", .cutOff),
      ("{\"a\":1,", .cutOff), ("{\"a\":1,}", .syntax), ("{a:1}", .syntax), ("{'a':1}", .syntax),
      ("{\"a\":01}", .syntax),
      ("{\"a\":.5}", .syntax), ("{\"a\":1.}", .syntax), ("{\"a\":+1}", .syntax), ("{\"a\":NaN}", .syntax),
      ("{\"a\":1e}", .syntax), ("{\"a\":\"\n\"}", .syntax), ("{\"a\":\"\\x\"}", .syntax),
      ("{\"a\":\"\\u12g4\"}", .syntax),
      ("{\"a\":\"\\ud800\"}", .syntax), ("{\"a\":\"\\udc00\"}", .syntax), ("{\"a\":\"\\ud800\\u0041\"}", .syntax),
      ("{\"a\":1} x", .syntax), ("{\"a\":1}{}", .syntax), ("{\"a\" 1}", .syntax), ("{\"a\":[1,]}", .syntax),
      ("{\"a\":True}", .syntax), ("{\"a\":\"\\", .cutOff), ("{\"a\":\"\\u00", .cutOff),
      ("{\"a\":" + String(repeating: "[", count: 100_000), .tooDeep),
      (String(repeating: "{\"a\":", count: 100_000), .tooDeep),
      ("{\"a\":[" + String(repeating: "0,", count: 30_000) + "0]}", .tooMany),
    ] as [(String, JSONProblem)])
  func problems(text: String, expected: JSONProblem) {
    #expect(JSONObject(reading: Secret(text)).problem == expected)
  }

  @Test("blanks, a byte order mark and every kind of value are read")
  func values() {
    let object = JSONObject(
      reading: Secret(
        "\u{FEFF} {\r\n\t\"n\" : null , \"t\":true,\"f\":false,\"i\":-0.5E+3,\"l\":[1,[],{}],\"o\":{\"x\":\"y\"}} \n"))
    #expect(object.problem == nil)
    #expect(object.members.map(\.name) == ["n", "t", "f", "i", "l", "o"])
    #expect(object.value("n") == nil)
    if case .number(let text) = object.value("i") { #expect(text == "-0.5E+3") } else { Issue.record("no number") }
  }

  @Test("members before a fault are kept, those after it are not")
  func partial() {
    let object = JSONObject(reading: Secret(#"{"a":"1","b":NaN,"c":"3"}"#))
    #expect(object.problem == .syntax)
    #expect(object.members.map(\.name) == ["a"])
  }

  @Test("text that is not UTF-8 is no text")
  func invalidUTF8() {
    let bytes = Array("{\"a\":\"".utf8) + [0xFF, 0xFE] + Array("\"}".utf8)
    let object = JSONObject(reading: Secret(bytes))
    #expect(object.problem == nil)
    #expect(object.text("a", limit: 10) == nil)
  }

  @Test("every prefix of a document is read without a fault of ours")
  func prefixes() {
    let whole = Array(#"{"access_token":"a\u00e9\ud83d\ude42\\","expires_in":12.5e1,"x":[{"y":null},true,false]}"#.utf8)
    for length in 0..<whole.count {
      #expect(JSONObject(reading: Secret(whole.prefix(length))).problem != nil)
    }
    #expect(JSONObject(reading: Secret(whole)).problem == nil)
  }
}
