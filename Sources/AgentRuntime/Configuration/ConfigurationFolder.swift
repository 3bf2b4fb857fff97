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

  /// By the XDG Base Directory Specification: a relative `XDG_CONFIG_HOME` is ignored. Nil when there is no home either.
  package init?(environment: [String: String]) {
    let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    if let base = environment["XDG_CONFIG_HOME"], base.hasPrefix("/") {
      self.init(path: Self.joined(base, "oauthctl"), home: home)
    } else if let home {
      self.init(path: Self.joined(home, ".config/oauthctl"), home: home)
    } else {
      return nil
    }
  }

  /// Settings of the agent itself.
  package var settingsFile: String { Self.joined(path, "config.toml") }
  /// One file an account.
  package var accountsFolder: String { Self.joined(path, "accounts.d") }

  package func accountFile(_ name: String) -> String { Self.joined(accountsFolder, name + ".toml") }

  private static func joined(_ folder: String, _ name: String) -> String {
    folder.hasSuffix("/") ? folder + name : folder + "/" + name
  }
}
