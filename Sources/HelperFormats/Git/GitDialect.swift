/// git's credential helpers (gitcredentials(7), git-credential(1)).
package enum GitDialect: HelperDialect {
  package static var dialect: Dialect { .git }
  package static var caller: String { "git" }
  package static var abstract: String { "Answers git as its credential helper." }
  package static var discussion: String {
    """
    git runs it; `oauthctl setup git` says so to git.
    Example: printf 'protocol=https\\nhost=gitlab.example.com\\n' | oauthctl git-credential get
    """
  }
  package static var operations: String { "get, store or erase; any other is ignored." }
  package static var inputLimit: Int { GitCredentialRequest.limit }
  /// git may send for a while what it was given.
  package static var validitySeconds: Int { 300 }

  package static var givingUp: String { "quit=1\n" }

  package static func operation(_ word: String) -> GitOperation? { GitOperation(word) }

  package static func hasInput(_ operation: GitOperation) -> Bool {
    switch operation {
    case .get, .erase: true
    case .store, .capability: false
    }
  }

  package static func call(
    _ operation: GitOperation, account: String?, input: [UInt8]
  ) throws(HelperFormatError) -> HelperCall<GitLookup> {
    switch operation {
    case .get: return GitLookup(try GitCredentialRequest(input), account: account).map { .lookup($0) } ?? .ignored
    case .erase:
      let request = try GitCredentialRequest(input)
      guard let rejected = GitOperation.rejected(request) else { return .ignored }
      return .rejection(
        HelperRejection(
          url: rejected.url, token: rejected.token, username: account == nil ? request.username : nil,
          noteIfKept:
            "\(rejected.url) refused a new token too: rights are missing there, or it takes Bearer tokens alone, "
            + "which needs git 2.46 or newer"))
    case .store: return .ignored
    case .capability: return .told(GitOperation.capabilities)
    }
  }
}
