import Sealing

/// A JSON value of an untrusted answer. Texts are secrets until a rule says otherwise.
enum JSONValue: Sendable {
  case null
  case bool(Bool)
  /// The number as it was written.
  case number(String)
  case string(Secret)
  case array([JSONValue])
  case object([JSONObject.Member])
}

/// The members of a JSON object, also those read before the text broke: a token answer that is cut or damaged may still
/// hold the only living refresh token.
struct JSONObject: Sendable {
  struct Member: Sendable {
    var name: String
    var value: JSONValue
  }

  /// In order, repeated names repeated.
  let members: [Member]
  /// What is wrong with the text, or nil when all of it was read.
  let problem: JSONProblem?

  init(members: [Member], problem: JSONProblem?) {
    self.members = members
    self.problem = problem
  }

  init(reading body: Secret) {
    (members, problem) = body.withBytes { bytes in
      var reader = JSONReader(bytes)
      return reader.readDocument()
    }
  }

  /// An object inside of another, which was read whole.
  init(_ members: [Member]) { (self.members, problem) = (members, nil) }

  /// The value of `name`; the last one when it is repeated, as most readers see it. JSON null counts as absent.
  func value(_ name: String) -> JSONValue? {
    guard let value = members.last(where: { $0.name == name })?.value else { return nil }
    if case .null = value { return nil }
    return value
  }

  /// True when one of `names` appears more than once.
  func repeated(_ names: [String]) -> String? {
    names.first { name in members.count(where: { $0.name == name }) > 1 }
  }

  /// The text of `name` when it is a string of at most `limit` bytes of UTF-8.
  func text(_ name: String, limit: Int) -> String? {
    guard case .string(let secret) = value(name) else { return nil }
    return secret.text(limit: limit)
  }
}

enum JSONProblem: String, Sendable, Error {
  case notAnObject = "it is not a JSON object"
  case syntax = "its JSON is malformed"
  case cutOff = "its JSON is cut off"
  case tooDeep = "its JSON is nested too deeply"
  case tooMany = "its JSON holds too many values"
}
