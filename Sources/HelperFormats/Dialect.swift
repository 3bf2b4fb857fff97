/// The programs that get tokens in a way of their own, a row each: by what each is called. `oauthctl`'s command line, the
/// short way to a token, the links that an installation brings and the pages for them are made from it; how each reads,
/// asks and prints is a folder of this module.
package enum Dialect: CaseIterable, Sendable {
  case git, curl

  private struct Row {
    let subcommand: String
    var program: String?
    var helper: (any HelperDialect.Type)?
  }

  private var row: Row {
    switch self {
    case .git: Row(subcommand: "git-credential", program: "git-credential-oauthctl", helper: GitDialect.self)
    case .curl: Row(subcommand: "curl")
    }
  }

  /// The word behind `oauthctl`.
  package var subcommand: String { row.subcommand }

  /// The name of a link to `oauthctl` that is this subcommand: other programs run it. Nil: people type the subcommand.
  package var program: String? { row.program }

  /// How the program runs its helper. Nil: it runs none, and the subcommand is a command of its own.
  package var helper: (any HelperDialect.Type)? { row.helper }

  package init?(program name: String) {
    guard let found = Self.allCases.first(where: { $0.program == name }) else { return nil }
    self = found
  }

  package init?(subcommand word: String) {
    guard let found = Self.allCases.first(where: { $0.subcommand == word }) else { return nil }
    self = found
  }
}
