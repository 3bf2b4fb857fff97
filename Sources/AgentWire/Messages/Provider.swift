/// `provider.list`: the presets for known providers, those in the program and the user's own.
package struct ProviderList: ParameterlessRequest {
  package typealias Answer = ProviderListAnswer
  package static let method = Method.providerList

  package init() {}
}

package struct ProviderListAnswer: Codable, Sendable, Equatable {
  package var providers: [ProviderSummary]
  /// Of the user's own files; those are not in `providers`.
  package var problems: [ConfigurationProblem]

  package init(providers: [ProviderSummary], problems: [ConfigurationProblem] = []) {
    self.providers = providers
    self.problems = problems
  }
}

package struct ProviderSummary: Codable, Sendable, Equatable {
  package var provider: String
  package var title: String
  /// The user's own file; nil: it is part of the program.
  package var file: String?

  package init(provider: String, title: String, file: String? = nil) {
    self.provider = provider
    self.title = title
    self.file = file
  }
}

/// `provider.show`: one preset, and the account that it makes of the answers to its questions.
package struct ProviderShow: RequestParameters, Equatable {
  package typealias Answer = ProviderShowAnswer
  package static let method = Method.providerShow

  package var provider: String
  /// Answers to its questions, by their names; those that are left out have their defaults.
  package var values: [String: String]?

  package init(provider: String, values: [String: String]? = nil) {
    self.provider = provider
    self.values = values
  }

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable { case provider, values }
}

package struct ProviderShowAnswer: Codable, Sendable, Equatable {
  package var provider: String
  package var title: String
  package var file: String?
  /// The page where one registers a client; nil while an answer that it needs is missing.
  package var registerAt: String?
  /// What a person has to know who registers one there.
  package var notes: [String]
  package var questions: [ProviderQuestion]
  /// Keys and values of an account's file; nil while an answer is missing.
  package var account: [String: ProviderDefault]?
  package var facts: ProviderFacts?
  /// The file as it is.
  package var text: String

  package init(
    provider: String, title: String, file: String? = nil, registerAt: String? = nil, notes: [String] = [],
    questions: [ProviderQuestion] = [], account: [String: ProviderDefault]? = nil, facts: ProviderFacts? = nil,
    text: String = ""
  ) {
    self.provider = provider
    self.title = title
    self.file = file
    self.registerAt = registerAt
    self.notes = notes
    self.questions = questions
    self.account = account
    self.facts = facts
    self.text = text
  }

  package enum CodingKeys: String, CodingKey {
    case provider, title, file, notes, questions, account, facts, text
    case registerAt = "register_at"
  }
}

/// What differs from one user of a provider to the next, as the host of a GitLab of one's own.
package struct ProviderQuestion: Codable, Sendable, Equatable {
  package var name: String
  package var text: String
  /// Taken where nothing is answered; nil: somebody has to answer.
  package var standard: String?
  package var example: String

  package init(name: String, text: String, standard: String? = nil, example: String) {
    self.name = name
    self.text = text
    self.standard = standard
    self.example = example
  }

  package enum CodingKeys: String, CodingKey {
    case name, text, example
    case standard = "default"
  }
}

/// A value of an account's file.
package enum ProviderDefault: Sendable, Equatable {
  case text(String)
  case list([String])
  case flag(Bool)
  case number(Int)
  case table([String: String])

  package var text: String? { if case .text(let text) = self { text } else { nil } }
}

extension ProviderDefault: Codable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let flag = try? container.decode(Bool.self) {
      self = .flag(flag)
    } else if let number = try? container.decode(Int.self) {
      self = .number(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if let list = try? container.decode([String].self) {
      self = .list(list)
    } else {
      self = .table(try container.decode([String: String].self))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .text(let text): try container.encode(text)
    case .list(let list): try container.encode(list)
    case .flag(let flag): try container.encode(flag)
    case .number(let number): try container.encode(number)
    case .table(let table): try container.encode(table)
    }
  }
}
