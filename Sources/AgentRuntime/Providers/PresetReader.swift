import AgentCore
import AgentWire

/// Reads a preset key by key; the account in it by the reader of account files.
struct PresetReader {
  private var keys: KeyReader
  private let document: TOMLDocument
  private let place: String
  /// Placeholders that were found so far.
  private var placeholders = 0
  private var problemsOfFacts: [ConfigurationProblem] = []

  static let known = ["title", "register_at", "notes", "ask", "account", "facts"]
  /// Questions of one preset: no provider has needed more than two.
  private static let questions = 4

  static func read(
    _ bytes: [UInt8], name: String, file: String?, folder: ConfigurationFolder
  ) -> Result<ProviderPreset, ConfigurationProblems> {
    let place = file ?? "provider \(name)"
    do {
      let document = try TOMLDocument(bytes)
      var reader = PresetReader(
        keys: KeyReader(file: place, document: document), document: document, place: place)
      let preset = reader.preset(name, file, String(decoding: bytes, as: UTF8.self), folder)
      let problems = reader.keys.problems + reader.problemsOfFacts
      guard problems.isEmpty, let preset else { return .failure(ConfigurationProblems(problems)) }
      // As it will be for somebody: with each example for an answer.
      let examples = preset.questions.reduce(into: [:]) { $0[$1.name] = $1.example }
      return preset.definition(examples).map { _ in preset }
    } catch {
      return .failure(
        ConfigurationProblems([ConfigurationProblem(file: place, line: error.line, key: nil, reason: error.reason)]))
    }
  }

  private mutating func preset(
    _ name: String, _ file: String?, _ text: String, _ folder: ConfigurationFolder
  ) -> ProviderPreset? {
    keys.refuseOthers(than: Self.known)
    guard let account = document.table("account") else {
      // A key that is misspelled is told alone: it is what was looked at last.
      if keys.problems.isEmpty {
        keys.refuse("account", "the table [account] is missing; it holds keys of an account's file")
      }
      return nil
    }
    var preset = ProviderPreset(name: name, file: file, account: account, text: text, folder: folder)
    if let title = line("title", limitBytes: 80) { preset.title = title }
    // One that is misspelled is no second fault.
    if !keys.has("title"), keys.problems.isEmpty {
      keys.refuse("title", "it is missing; oauthctl provider list shows it")
    }
    preset.notes = notes()
    preset.facts = facts()
    preset.questions = questions()
    let names = preset.questions.map(\.name)
    if keys.problems.isEmpty, let page = keys.string("register_at", limitBytes: 2_048),
      checkPlaceholders("register_at", page, names)
    {
      let examples = preset.questions.reduce(into: [:]) { $0[$1.name] = $1.example }
      // Pages for people lie behind a # here and there.
      let place = Placeholders.filled(page, with: examples).prefix { $0 != "#" }
      if let reason = ValueRules.endpoint(String(place)) ?? ValueRules.plainText(page, limitBytes: 2_048) {
        keys.refuse("register_at", reason)
      } else {
        preset.registerAt = page
      }
    }
    for (key, value) in account.values.sorted(by: { $0.key < $1.key }) {
      for text in value.texts where !checkPlaceholders("account.\(key)", text, names) { return nil }
    }
    return preset
  }

  /// One line for people.
  private mutating func line(_ key: String, limitBytes: Int) -> String? {
    guard let text = keys.string(key, limitBytes: limitBytes) else { return nil }
    guard let reason = ValueRules.plainText(text, limitBytes: limitBytes) else { return text }
    keys.refuse(key, reason)
    return nil
  }

  private mutating func notes() -> [String] {
    guard let value = document.values["notes"] else { return [] }
    guard case .array(let items) = value, items.count <= 8, items.allSatisfy({ $0.text != nil }) else {
      keys.refuse("notes", "it must be an array of at most 8 strings")
      return []
    }
    let notes = items.compactMap(\.text)
    if let reason = notes.lazy.compactMap({ ValueRules.plainText($0, limitBytes: 500) }).first {
      keys.refuse("notes", reason)
    }
    return notes
  }

  private mutating func facts() -> ProviderFacts? {
    guard keys.has("facts") else { return nil }
    guard let table = document.table("facts") else {
      keys.refuse("facts", "it must be a table: [facts]")
      return nil
    }
    let found = FactsReader.read(table, place: place)
    problemsOfFacts = found.problems
    return found.facts
  }

  private mutating func questions() -> [ProviderQuestion] {
    guard let value = document.values["ask"] else { return [] }
    guard case .table(let asked) = value, asked.count <= Self.questions else {
      keys.refuse("ask", "it must hold at most \(Self.questions) tables: [ask.host]")
      return []
    }
    return asked.keys.sorted().compactMap { question($0) }
  }

  private mutating func question(_ name: String) -> ProviderQuestion? {
    let place = "ask.\(name)"
    guard let table = document.table("ask")?.table(name) else {
      keys.refuse(place, "it must be a table: [ask.NAME]")
      return nil
    }
    let known = ["text", "default", "example"]
    if let other = table.values.keys.sorted().first(where: { !known.contains($0) }) {
      keys.refuse("\(place).\(other)", "there is no such key; known are \(known.joined(separator: ", "))")
      return nil
    }
    let isName = (1...32).contains(name.utf8.count) && name.utf8.allSatisfy { (0x61...0x7A).contains($0) }
    guard isName, let text = table.values["text"]?.text, ValueRules.plainText(text, limitBytes: 120) == nil,
      let example = table.values["example"]?.text
    else {
      keys.refuse(place, "its name is of a to z, and it needs a text for people and an example")
      return nil
    }
    let standard = table.values["default"]
    for answer in [example] + (standard.map { [$0.text ?? ""] } ?? []) {
      if let reason = Placeholders.problem(of: answer) { keys.refuse(place, reason) }
    }
    return ProviderQuestion(name: name, text: text, standard: standard?.text, example: example)
  }

  /// Whether each placeholder stands for an answer.
  private mutating func checkPlaceholders(_ key: String, _ text: String, _ names: [String]) -> Bool {
    guard let used = Placeholders.names(in: text) else {
      keys.refuse(key, "a brace stands alone; {host} is the answer to [ask.host]")
      return false
    }
    placeholders += used.count
    guard placeholders <= ConfigurationLimits.placeholders else {
      keys.refuse(key, "the preset has more than \(ConfigurationLimits.placeholders) placeholders")
      return false
    }
    guard let unknown = used.first(where: { !names.contains($0) }) else { return true }
    keys.refuse(key, "{\(PrintableText.escaped(unknown, limit: 40))} is asked nowhere; write a table [ask.NAME] for it")
    return false
  }
}

extension TOMLDocument.Value {
  /// All texts in it.
  fileprivate var texts: [String] {
    switch self {
    case .string(let text): [text]
    case .array(let items): items.flatMap(\.texts)
    case .table(let members): members.sorted { $0.key < $1.key }.flatMap(\.value.texts)
    case .bool, .integer, .other: []
    }
  }
}
