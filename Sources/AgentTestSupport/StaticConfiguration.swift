package import AgentCore
package import AgentWire
package import OAuthProtocol
import Synchronization

/// Definitions that a test sets.
package final class StaticConfiguration: ConfigurationSource {
  private let configuration: Mutex<Configuration>
  package let clientMetadataURL: String?

  package init(
    _ definitions: [AccountDefinition], problems: [ConfigurationProblem] = [], clientMetadataURL: String? = nil
  ) {
    self.clientMetadataURL = clientMetadataURL
    configuration = Mutex(Configuration(definitions: definitions, problems: problems))
  }

  package func set(
    _ definitions: [AccountDefinition], problems: [ConfigurationProblem] = [], folders: AccountFolders? = nil
  ) {
    configuration.withLock {
      $0 = Configuration(definitions: definitions, problems: problems, folders: folders)
    }
  }

  package func load() async -> Configuration { configuration.withLock { $0 } }

  package func definition(name: String, text: String?) async -> Result<AccountDefinition, ConfigurationProblems> {
    guard let found = await load().definitions.first(where: { $0.name == name }) else {
      return .failure(
        ConfigurationProblems([ConfigurationProblem(file: "\(name).toml", line: nil, key: nil, reason: "no such file")])
      )
    }
    return .success(found)
  }

  package func content(_ authority: NamedAuthority) async -> Result<[UInt8], HTTPFailure> {
    let isThere = await load().definitions.contains {
      $0.certificateAuthorityFile == authority.file && $0.certificateAuthorityDigest == authority.digest
    }
    return isThere ? .success([1]) : .failure(HTTPFailure(.authority, "there are no files here"))
  }
}

extension ConfigurationSource {
  package var hasUnreadChange: Bool { false }

  package func providers() async -> ProviderListAnswer { ProviderListAnswer(providers: []) }

  package func provider(_ request: ProviderShow) async throws(AgentFailure) -> ProviderShowAnswer {
    throw AgentFailure(.configInvalid, "there is no preset \(request.provider)")
  }
}
