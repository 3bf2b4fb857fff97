import AgentWire
import HTTPTerms
import OAuthTerms

/// `config.toml`: what concerns the agent, not an account.
package struct AgentSettings: Sendable, Equatable {
  /// Proxy URL for accounts that name none.
  package var proxy: String?
  /// Hosts and domains that are reached without that proxy.
  package var noProxy: [String] = []
  /// PEM file of a certificate authority for accounts that name none.
  package var certificateAuthorityFile: String?
  /// Whether the vault may lie on a network file system.
  package var allowsNetworkHome = false
  /// The client's id at servers that take a client metadata document.
  package var clientMetadataURL: String?
  /// From where on the agent logs, unless its command line says.
  package var logLevel = LogLevel.info

  package enum LogLevel: String, Sendable, CaseIterable { case error, warning, info, debug }

  package init() {}

  var proxyRules: ProxyRules { ProxyRules(proxy: proxy, exceptions: noProxy) }

  static let known = ["proxy", "no_proxy", "ca_file", "allow_network_home", "client_metadata_url", "log_level"]

  /// The settings, or everything that is wrong with them.
  static func read(
    _ document: TOMLDocument, file: String, folder: ConfigurationFolder
  ) -> (settings: AgentSettings, problems: [ConfigurationProblem]) {
    var keys = KeyReader(file: file, document: document)
    keys.refuseOthers(than: known)
    var settings = AgentSettings()
    if let proxy = keys.string("proxy") {
      if let reason = ProxyURL.problem(with: proxy) { keys.refuse("proxy", reason) } else { settings.proxy = proxy }
    }
    settings.noProxy = keys.words("no_proxy", limit: 64)
    if let reason = settings.noProxy.lazy.compactMap(ValueRules.noProxy).first { keys.refuse("no_proxy", reason) }
    settings.certificateAuthorityFile = keys.path("ca_file", folder: folder)
    settings.allowsNetworkHome = keys.bool("allow_network_home") ?? false
    if let url = keys.string("client_metadata_url") {
      if let reason = ClientMetadata.problem(inURL: url) {
        keys.refuse("client_metadata_url", reason)
      } else {
        settings.clientMetadataURL = url
      }
    }
    settings.logLevel = keys.choice("log_level", LogLevel.self) ?? .info
    return (settings, keys.problems)
  }
}
