package import AgentCore
package import AgentWire
package import OAuthProtocol
import Synchronization

/// Readings that end when a test says so.
package final class SlowConfiguration: ConfigurationSource {
  private let held = Mutex<(began: Int, waiting: [CheckedContinuation<Configuration, Never>], isSlow: Bool)>(
    (0, [], false))

  private let only: AccountDefinition

  /// `definition` is all that it says while it is not slow.
  package init(_ definition: AccountDefinition) { only = definition }

  package var began: Int { held.withLock { $0.began } }

  package func makeSlow() { held.withLock { $0.isSlow = true } }

  package let clientMetadataURL: String? = nil

  package func load() async -> Configuration {
    await withCheckedContinuation { continuation in
      let isSlow = held.withLock { state in
        state.began += 1
        if state.isSlow { state.waiting.append(continuation) }
        return state.isSlow
      }
      if !isSlow { continuation.resume(returning: Configuration(definitions: [only], problems: [])) }
    }
  }

  package func definition(name: String, text: String?) async -> Result<AccountDefinition, ConfigurationProblems> {
    .success(only)
  }

  package func content(_ authority: NamedAuthority) async -> Result<[UInt8], HTTPFailure> {
    .failure(HTTPFailure(.authority, "there are no files here"))
  }

  /// Ends the oldest reading.
  package func end(_ definitions: [AccountDefinition], problems: [ConfigurationProblem] = []) {
    let waiting = held.withLock { $0.waiting.removeFirst() }
    waiting.resume(returning: Configuration(definitions: definitions, problems: problems))
  }
}
