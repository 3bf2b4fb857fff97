/// The programs that get tokens in a way of their own, a row each: by what each is called. `oauthctl`'s command line, the
/// short way to a token, the links that an installation brings and the pages for them are made from it; how each reads,
/// asks and prints is a folder of this module.
package enum Dialect: CaseIterable, Sendable {
  case git, curl

  /// The word behind `oauthctl`.
  package var subcommand: String {
    switch self {
    case .git: "git-credential"
    case .curl: "curl"
    }
  }

  /// The name of a link to `oauthctl` that is this subcommand: other programs run it. Nil: people type the subcommand.
  package var program: String? {
    switch self {
    case .git: "git-credential-oauthctl"
    case .curl: nil
    }
  }

  package init?(program name: String) {
    guard let found = Self.allCases.first(where: { $0.program == name }) else { return nil }
    self = found
  }

  package init?(subcommand word: String) {
    guard let found = Self.allCases.first(where: { $0.subcommand == word }) else { return nil }
    self = found
  }
}
