/// What the agent is asked for a helper: `token.get` with these.
package struct HelperQuestion: Sendable, Equatable {
  package var url: String
  /// The account by its name, nil where nobody said which.
  package var account: String?
  /// The user name of the URL or of the program's settings: it chooses among accounts.
  package var username: String?
  /// Fingerprint of the token that the server refused, nil when none is known to be.
  package var rejected: String?
}

/// What the agent said, as far as helpers care.
package struct HelperToken: Sendable, Equatable {
  package var accessToken: String
  package var tokenType: String
  /// For the header `DPoP` of one request; nil: the token needs none.
  package var proof: String?
  /// Unix time.
  package var expiresAt: Int?
  package var expiresInSeconds: Int?
  /// `sha256:` and 32 hex digits.
  package var fingerprint: String
  /// User name for Basic, nil where the account names none.
  package var username: String?
  /// Whose it is.
  package var account: String
  /// The private authority that its login is bound to; nil: the login is bound to none.
  package var authority: LoginAuthority?
  /// What it may do; empty where nobody asked for a scope, resource or audience of its own.
  package var scope: [String] = []
  /// What the person reads beside it: one line.
  package var warning: String?

  package init(
    accessToken: String, tokenType: String, expiresAt: Int?, expiresInSeconds: Int? = nil, fingerprint: String,
    username: String?, account: String, warning: String? = nil
  ) {
    self.accessToken = accessToken
    self.tokenType = tokenType
    self.expiresAt = expiresAt
    self.expiresInSeconds = expiresInSeconds
    self.fingerprint = fingerprint
    self.username = username
    self.account = account
    self.warning = warning
  }
}

/// Whom the login of a token believes at its issuer's host, beside nobody else.
package struct LoginAuthority: Sendable, Equatable {
  /// SHA-256 in hex of its certificates, PEM text.
  package var digest: String
  /// The issuer's: `host` or `host:port`; nil: an agent of an earlier version does not say.
  package var host: String?

  /// Nil without a digest.
  package init?(digest: String?, host: String?) {
    guard let digest else { return nil }
    self.digest = digest
    self.host = host
  }
}

/// Why there is no token. What helps is told behind the line.
package enum HelperFailure: Sendable, Equatable {
  /// No account is for this server: the program goes on as if this helper were not there, unless it was set up for it.
  /// One line.
  case notOurs(String)
  /// An account is, and a person has to do something first. One line.
  case needsPerson(String)
  /// An account is, and it fails in passing or for good. One line.
  case other(String)
}

/// What goes to the program, and to the person.
package struct HelperReply: Sendable, Equatable {
  /// For stdout: lines of the protocol, each with its line feed.
  package var output = ""
  /// For stderr: one line without a line feed.
  package var note: String?
}

/// A token that a program's server refused, as the program tells it.
package struct HelperRejection: Sendable, Equatable {
  package var url: String
  package var token: String
  package var username: String?
  /// What the person reads where the agent cannot do better: one line.
  package var noteIfKept: String
}

/// One question of a program, read. Pure; whoever runs it asks the agent in between.
///
/// ```
/// var token = ask(lookup.question)
/// if let second = lookup.secondQuestion(after: token) { token = ask(second) }
/// print(try lookup.answer(token))
/// ```
package protocol HelperLookup: Sendable {
  /// The server, as a person names it.
  var origin: String { get }
  var question: HelperQuestion { get }
  /// What to ask once more where the program shows that its server refused `token` itself; nil: give it.
  func secondQuestion(after token: HelperToken) -> HelperQuestion?
  /// `isSecond`: it answers ``secondQuestion(after:)``. `isSetUp` as below. Throws for what the format cannot carry.
  func answer(
    _ token: HelperToken, isSecond: Bool, isSetUp: @autoclosure () -> Bool
  ) throws(HelperFormatError) -> HelperReply
  /// What is said when there is no token. `isSetUp`: this helper was named for this very server, so that the program is not
  /// to ask a person for a password, which does not exist and would go to the server.
  func answer(_ failure: HelperFailure, isSetUp: @autoclosure () -> Bool) -> HelperReply
}

/// What a program asks a helper to do.
package enum HelperCall<Lookup: HelperLookup>: Sendable {
  /// This helper does nothing for it, and says nothing.
  case ignored
  /// It asks what the helper knows.
  case told(String)
  case lookup(Lookup)
  case rejection(HelperRejection)
}

/// How a program runs a helper: a word on its command line, a request on standard input, an answer on standard output.
/// ``HelperRun`` in `oauthctl` answers any of them.
package protocol HelperDialect {
  associatedtype Operation: Sendable
  associatedtype Lookup: HelperLookup

  /// Its row.
  static var dialect: Dialect { get }
  /// The program, in messages.
  static var caller: String { get }
  /// For the help: one sentence, and who runs it, with an example.
  static var abstract: String { get }
  static var discussion: String { get }
  /// For the help: the words that ``operation(_:)`` knows.
  static var operations: String { get }
  /// Longest input that is read, in bytes. It ends with a blank line, or with the input.
  static var inputLimit: Int { get }
  /// The least seconds that a token should live for the program to use it.
  static var validitySeconds: Int { get }
  /// What is answered to an input that cannot be read, so that the program asks no person for a password.
  static var givingUp: String { get }
  /// Nil for what a newer program may come up with, which is ignored.
  static func operation(_ word: String) -> Operation?
  /// Whether the program writes a request for it.
  static func hasInput(_ operation: Operation) -> Bool
  /// What is to be done; `account`: whom the command line names. Throws for an input that cannot be read.
  static func call(
    _ operation: Operation, account: String?, input: [UInt8]
  ) throws(HelperFormatError) -> HelperCall<Lookup>
}
