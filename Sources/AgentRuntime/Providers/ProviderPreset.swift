import AgentCore
import AgentWire

/// Defaults for the account file of a known provider, and what a person is asked and told who makes one.
struct ProviderPreset: Sendable {
  let name: String
  var title = ""
  /// The user's own file; nil: it is part of the program.
  let file: String?
  var registerAt: String?
  var notes: [String] = []
  var questions: [ProviderQuestion] = []
  var facts: ProviderFacts?
  /// Keys of an account's file, with placeholders in their texts.
  var account: TOMLDocument
  let text: String
  let folder: ConfigurationFolder

  var summary: ProviderSummary { ProviderSummary(provider: name, title: title, file: file) }

  /// What it makes of the answers in `values`.
  ///
  /// - Throws: `bad_request` for an answer that is not allowed, `config_invalid` where they make no account.
  func shown(_ values: [String: String]) throws(AgentFailure) -> ProviderShowAnswer {
    for (given, value) in values.sorted(by: { $0.key < $1.key }) {
      guard let question = questions.first(where: { $0.name == given }) else {
        let known = questions.map(\.name).joined(separator: ", ")
        throw AgentFailure(
          .badRequest,
          "\(name) asks for no \(PrintableText.escaped(given, limit: 40)); it asks for "
            + (known.isEmpty ? "nothing" : known))
      }
      if let problem = Placeholders.problem(of: value) {
        throw AgentFailure(
          .badRequest, "\(name): \(given): \(problem)", hint: "write it as in --set \(given)=\(question.example)")
      }
    }
    var answers = values
    for question in questions where answers[question.name] == nil { answers[question.name] = question.standard }
    let isWhole = questions.allSatisfy { answers[$0.name] != nil }
    let page = registerAt.map { Placeholders.filled($0, with: answers) }
    return ProviderShowAnswer(
      provider: name, title: title, file: file, registerAt: page.flatMap { $0.contains("{") ? nil : $0 }, notes: notes,
      questions: questions, account: isWhole ? try made(answers) : nil, facts: facts, text: text)
  }

  private func made(_ answers: [String: String]) throws(AgentFailure) -> [String: ProviderDefault] {
    if case .failure(let found) = definition(answers) {
      throw AgentFailure(
        .configInvalid, "\(name): \(found.problems.first?.told ?? "no account comes of this")",
        hint: .run("oauthctl provider show \(name)"))
    }
    return account.changed { Placeholders.filled($0, with: answers) }.values.compactMapValues(ProviderDefault.init)
  }

  /// The account as the reader of account files reads it, with a client id where the preset has none.
  func definition(_ answers: [String: String]) -> Result<AccountDefinition, ConfigurationProblems> {
    DefinitionReader.read(
      account.changed(adding: ["client_id": .string("-")]) { Placeholders.filled($0, with: answers) },
      name: name, file: file ?? "provider \(name)", folder: folder)
  }
}

extension ProviderDefault {
  /// Nil for a value that no key takes.
  fileprivate init?(_ value: TOMLDocument.Value) {
    switch value {
    case .string(let text): self = .text(text)
    case .bool(let flag): self = .flag(flag)
    case .integer(let number): self = .number(number)
    case .array(let items): self = .list(items.compactMap(\.text))
    case .table(let members): self = .table(members.compactMapValues(\.text))
    case .other: return nil
    }
  }
}

extension TOMLDocument.Value {
  var text: String? { if case .string(let text) = self { text } else { nil } }
}

extension ConfigurationProblem {
  /// `FILE:LINE: key: reason`.
  var told: String { file + (line.map { ":\($0)" } ?? "") + ": " + (key.map { "\($0): " } ?? "") + reason }
}
