import FoundationEssentials
import JSONCoding
import Testing

@testable import AgentWire

@Suite("Parameters, decoded from the shape of their line")
struct ParameterDecodingTests {
  /// What a decoder makes of an object: its value, or the mistake it names.
  private func outcome<P: RequestParameters & Equatable>(_ body: () throws -> P) -> (value: P?, mistake: String) {
    do { return (try body(), "") } catch let error as DecodingError {
      func path(_ context: DecodingError.Context, _ more: [any CodingKey] = []) -> String {
        (context.codingPath + more).map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
      }
      switch error {
      case .keyNotFound(let key, let context): return (nil, "missing: \(path(context, [key]))")
      case .typeMismatch(let type, let context): return (nil, "\(path(context)) is no \(type)")
      case .valueNotFound(let type, let context): return (nil, "\(path(context)) is null, no \(type)")
      case .dataCorrupted(let context): return (nil, "\(path(context)) is not allowed")
      @unknown default: return (nil, "another")
      }
    } catch { return (nil, "\(error)") }
  }

  private func compare<P: RequestParameters & Equatable>(_ type: P.Type, _ text: String) throws {
    // As in a line: something stands before them.
    let line = Array(#"{"params":\#(text)}"#.utf8)
    let parameters = try #require(try JSONShape(line, nesting: WireLimits.nesting).top.member("params"))
    let bytes = Array(line[parameters.range])
    let ours = outcome { try P(from: ShapeDecoder(parameters, in: bytes, from: parameters.range.lowerBound)) }
    let others = outcome { try JSONDecoder().decode(P.self, from: Data(bytes)) }
    #expect(ours.value == others.value && ours.mistake == others.mistake, "\(type): \(text)")
  }

  private static let values = [
    #""""#, #""work""#, #""\u00e9\n\"\\\/\ud83d\ude00é""#, #""wait""#, "0", "-1", "86400", "true", "false", "null",
    "[]",
    #"["a", "b\t"]"#, #"[ "a",1]"#, "[null]", #"[["a"]]"#, #"[{"a":"b"}]"#, "{}", #"{"fingerprint":"sha256:00"}"#,
    #"{ "token" : "t" , "fingerprint" : null }"#, #"{"token":7}"#,
  ]

  @Test("They are read as Foundation's decoder reads them, and refused for the same mistake", arguments: 0..<40)
  func sameAsFoundation(seed: UInt64) throws {
    var random = SeededGenerator(state: seed)
    func object(_ keys: [any CodingKey]) -> String {
      let members = keys.filter { _ in Bool.random(using: &random) }.shuffled(using: &random).map { key in
        "\"\(key.stringValue)\" : \(Self.values.randomElement(using: &random) ?? "0")"
      }
      return "{\(members.joined(separator: " , "))}"
    }
    for _ in 0..<25 {
      try compare(
        TokenGet.self, object(TokenGet.Keys.allCases.filter { _ in Int.random(in: 0..<4, using: &random) == 0 }))
      try compare(TokenReject.self, object(TokenReject.Keys.allCases))
      try compare(LoginStart.self, object(LoginStart.Keys.allCases))
      try compare(AccountList.self, object(AccountList.Keys.allCases))
      try compare(AgentHello.self, object([]))
    }
  }
}
