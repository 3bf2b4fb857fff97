import AgentCore
import AgentWire

@testable import AgentRuntime

/// Readings on the thread that calls.
extension FileConfiguration {
  private var now: ReadingAttempt { ReadingAttempt(uid: reader.uid) }

  func read() -> Configuration { read(now) }

  func settings() -> (settings: AgentSettings, problems: [ConfigurationProblem]) { settings(now) }

  func readDefinition(name: String, text: String?) -> Result<AccountDefinition, ConfigurationProblems> {
    readDefinition(name: name, text: text, now)
  }

  func readProviders() -> ProviderListAnswer { readProviders(now) }
}
