import SystemFacts

/// Where the user's configuration is: `$XDG_CONFIG_HOME/oauthctl`.
package struct ConfigurationFolder: Sendable, Equatable {
  /// Absolute, without a final slash.
  package let path: String
  /// The user's home, for paths that begin with `~/`; nil: such paths are refused.
  package let home: String?

  package init(path: String, home: String?) {
    self.path = path
    self.home = home
  }

  /// The one that is taken when no variable names another; nil: that is this one, or it is not known.
  var usual: ConfigurationFolder? {
    guard let base = BaseFolder.configuration.path(value: nil, home: home), case let usual = base + "/oauthctl",
      usual != path
    else { return nil }
    return ConfigurationFolder(path: usual, home: home)
  }

  /// Settings of the agent itself.
  package var settingsFile: String { Self.joined(path, "config.toml") }
  /// One file an account.
  package var accountsFolder: String { Self.joined(path, "accounts.d") }

  /// The user's own presets, one file a provider.
  package var providersFolder: String { Self.joined(path, "providers.d") }

  package func accountFile(_ name: String) -> String { Self.joined(accountsFolder, name + ".toml") }
  package func providerFile(_ name: String) -> String { Self.joined(providersFolder, name + ".toml") }

  private static func joined(_ folder: String, _ name: String) -> String {
    folder.hasSuffix("/") ? folder + name : folder + "/" + name
  }
}
