import AgentWire

/// Reads `[facts]` of a preset.
struct FactsReader {
  /// Ten years: no provider tells a longer life.
  private static let days = 1...3_650

  static func read(_ document: TOMLDocument, place: String) -> (facts: ProviderFacts, problems: [ConfigurationProblem])
  {
    typealias Key = ProviderFacts.CodingKeys
    var keys = KeyReader(file: place, document: document)
    keys.refuseOthers(than: Key.allCases.map(\.rawValue))
    let facts = ProviderFacts(
      sasl: keys.choices(Key.sasl.rawValue, ProviderFacts.SASLMechanism.self),
      tokenAnswer: keys.choices(Key.tokenAnswer.rawValue, ProviderFacts.TokenAnswerForm.self),
      refreshTokens: keys.choice(Key.refreshTokens.rawValue, ProviderFacts.RefreshTokens.self),
      refreshTokenDays: keys.number(Key.refreshTokenDays.rawValue, of: "days", days),
      refreshTokenIdleDays: keys.number(Key.refreshTokenIdleDays.rawValue, of: "days", days))
    for life in [Key.refreshTokenDays, .refreshTokenIdleDays]
    where facts.refreshTokens == .absent && keys.has(life.rawValue) {
      keys.refuse(life.rawValue, "it is of no use with refresh_tokens = \"none\"")
    }
    return (facts, keys.problems)
  }
}
