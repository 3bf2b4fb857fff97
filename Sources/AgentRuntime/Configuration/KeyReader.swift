import AgentWire
import HTTPTerms

/// Reads the keys of one file, and collects every problem with the line it stands on.
struct KeyReader {
  let file: String
  /// What fits on a line: config.toml and a preset have no more.
  private static let fewKeys = 10
  private let document: TOMLDocument
  private var found: [ConfigurationProblem] = []
  /// Known keys that others were taken for.
  private(set) var meant: Set<String> = []
  /// Problems that were counted and not written down.
  private var uncounted = 0

  init(file: String, document: TOMLDocument) {
    self.file = file
    self.document = document
  }

  /// The first problems by their lines, and one that says how many more there are.
  var problems: [ConfigurationProblem] {
    let most = ConfigurationLimits.problemsPerFile
    let more = uncounted + max(0, found.count - most)
    let first = found.sorted { ($0.line ?? 0) < ($1.line ?? 0) }.prefix(most)
    guard more > 0 else { return Array(first) }
    let rest = "and \(more) more problem\(more == 1 ? "" : "s") in this file"
    return first + [ConfigurationProblem(file: file, line: nil, key: nil, reason: rest)]
  }

  mutating func refuse(_ key: String, _ reason: String) {
    // A key may be somebody's typing error or worse: it is shown, so it is escaped.
    found.append(
      ConfigurationProblem(
        file: file, line: document.line(of: key), key: PrintableText.escaped(key, limit: 64), reason: reason))
  }

  /// Refuses every key that is not in `known`, secrets with advice of their own.
  mutating func refuseOthers(than known: [String]) {
    let others = document.values.keys.filter { !known.contains($0) }
      .map { (key: $0, line: document.line(of: $0) ?? 0) }
      .sorted { ($0.line, $0.key) < ($1.line, $1.key) }
    let most = ConfigurationLimits.problemsPerFile
    uncounted += max(0, others.count - most)
    var isListTold = false
    for (key, _) in others.prefix(most) {
      if let advice = SecretKeys.advice(key, file: file) {
        refuse(key, advice)
      } else if let nearest = NameSuggestion.nearest(to: key, among: known) {
        meant.insert(nearest)
        refuse(key, "there is no such key; did you mean \(nearest)?")
      } else {
        // A few can be named; of an account's all, each call of git would show a screen of them.
        let isShort = known.count <= Self.fewKeys
        let rest =
          isShort ? "; known are \(known.sorted().joined(separator: ", "))" : " (docs/configuration.md lists them)"
        refuse(key, "there is no such key" + (isListTold ? "" : rest))
        isListTold = true
      }
    }
  }

  func has(_ key: String) -> Bool { document.values[key] != nil }

  /// The string at `key` if it is one; no problem is noted.
  func peekString(_ key: String) -> String? {
    if case .string(let text) = document.values[key] { text } else { nil }
  }

  mutating func string(_ key: String, limitBytes: Int = 4_096) -> String? {
    guard let value = document.values[key] else { return nil }
    guard case .string(let text) = value else {
      refuse(key, "it is \(value.kind), but must be a string in quotes")
      return nil
    }
    guard !text.isEmpty else {
      refuse(key, "it is empty; leave the key out instead")
      return nil
    }
    guard text.utf8.count <= limitBytes else {
      refuse(key, "it is longer than \(limitBytes) bytes")
      return nil
    }
    return text
  }

  mutating func bool(_ key: String) -> Bool? {
    guard let value = document.values[key] else { return nil }
    guard case .bool(let answer) = value else {
      refuse(key, "it is \(value.kind), but must be true or false")
      return nil
    }
    return answer
  }

  /// A whole number of seconds.
  mutating func seconds(_ key: String, _ range: ClosedRange<Int>) -> Int? { number(key, of: "seconds", range) }

  /// A whole number; `unit` is for people.
  mutating func number(_ key: String, of unit: String, _ range: ClosedRange<Int>) -> Int? {
    guard let value = document.values[key] else { return nil }
    guard case .integer(let number) = value, range.contains(number) else {
      let found = if case .integer(let number) = value { "\(number)" } else { value.kind }
      refuse(key, "it is \(found), but must be whole \(unit) from \(range.lowerBound) to \(range.upperBound)")
      return nil
    }
    return number
  }

  /// A string of words, or an array of strings.
  mutating func words(_ key: String, limit: Int) -> [String] {
    guard let value = document.values[key] else { return [] }
    var words: [String] = []
    switch value {
    case .string(let text): words = text.split(separator: " ").map(String.init)
    case .array(let items):
      for item in items {
        guard case .string(let word) = item else {
          refuse(key, "it holds \(item.kind), but must hold strings only")
          return []
        }
        words.append(word)
      }
    default:
      refuse(key, "it is \(value.kind), but must be a string or an array of strings")
      return []
    }
    guard words.count <= limit else {
      refuse(key, "it has \(words.count) entries, more than \(limit)")
      return []
    }
    return words
  }

  /// An array of ports, each once.
  mutating func ports(_ key: String, limit: Int) -> [Int] {
    guard let value = document.values[key] else { return [] }
    guard case .array(let items) = value else {
      refuse(key, "it is \(value.kind), but must be an array of ports: [8400, 8401]")
      return []
    }
    let ports = items.compactMap { item -> Int? in
      guard case .integer(let port) = item, (1...65_535).contains(port) else { return nil }
      return port
    }
    guard ports.count == items.count, (1...limit).contains(ports.count), Set(ports).count == ports.count else {
      refuse(key, "it must hold 1 to \(limit) ports, each from 1 to 65535 and once")
      return []
    }
    return ports
  }

  /// One of a few words.
  mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(_ key: String, _ type: Choice.Type) -> Choice? {
    string(key, limitBytes: 256).flatMap { choice(key, $0, type) }
  }

  /// Some of a few words, each once.
  mutating func choices<Choice: RawRepresentable<String> & CaseIterable>(
    _ key: String, _ type: Choice.Type
  ) -> [Choice]? {
    let words = words(key, limit: Choice.allCases.count)
    guard Set(words).count == words.count else {
      refuse(key, "it names the same twice")
      return nil
    }
    let choices = words.compactMap { choice(key, $0, type) }
    return choices.isEmpty ? nil : choices
  }

  private mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ key: String, _ text: String, _ type: Choice.Type
  ) -> Choice? {
    if let choice = Choice(rawValue: text) { return choice }
    let known = Choice.allCases.map(\.rawValue)
    let meant = NameSuggestion.nearest(to: text, among: known).map { "; did you mean \"\($0)\"?" } ?? ""
    let list = known.map { "\"\($0)\"" }.joined(separator: ", ")
    refuse(key, "\"\(PrintableText.escaped(UserInfo.cut(from: text), limit: 64))\" is none of \(list)\(meant)")
    return nil
  }

  /// A table of strings.
  mutating func table(_ key: String, limit: Int) -> [String: String] {
    guard let value = document.values[key] else { return [:] }
    guard case .table(let members) = value else {
      refuse(key, "it is \(value.kind), but must be a table: [\(key)]")
      return [:]
    }
    guard members.count <= limit else {
      refuse(key, "it has \(members.count) entries, more than \(limit)")
      return [:]
    }
    var table: [String: String] = [:]
    for (name, member) in members.sorted(by: { $0.key < $1.key }) {
      guard case .string(let text) = member else {
        refuse("\(key).\(name)", "it is \(member.kind), but must be a string in quotes")
        continue
      }
      table[name] = text
    }
    return table
  }
}
