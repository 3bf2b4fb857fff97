/// `account.check`: validates a definition (the text of `accounts.d/NAME.toml`) and asks its server what it is, without
/// changing anything.
package struct AccountCheck: RequestParameters, Equatable {
  package typealias Answer = AccountCheckAnswer
  package static let method = Method.accountCheck

  package var account: String
  /// TOML text. Left out: the file as it is on disk.
  package var definition: String?
  /// Whether to fetch the server's metadata. Default true.
  package var discover: Bool?

  package init(account: String, definition: String?, discover: Bool? = nil) {
    self.account = account
    self.definition = definition
    self.discover = discover
  }

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable { case account, definition, discover }
}

package struct AccountCheckAnswer: Codable, Sendable, Equatable {
  package var problems: [ConfigurationProblem]
  /// `OAuth metadata` (RFC 8414), `OpenID discovery`, `none` (endpoints are in the definition), nil when not asked for or
  /// not valid.
  package var discovery: String?
  package var issuer: String?
  package var host: String?
  package var deviceFlow: Bool?
  package var grant: String?
  /// Whether the account needs `secret.set` before a login: the kinds that are missing. ``privateKey``: `key.set`.
  package var missingSecrets: [String]?
  /// SHA-256 in hex of the server that a secret belongs to that is given now, and the URLs by which it is known.
  package var secretPlace: String?
  package var secretURLs: [String]?
  /// Where the account and what its server says of itself do not fit; nil when its metadata was not asked for.
  package var concerns: [AccountConcern]?
  /// SHA-256 in hex of the definition's text and its private authority: `login.start`, `account.accept` and `account.import` take it, and go by no other
  /// text then. Nil: the agent is too old to tell.
  package var definitionDigest: String?
  /// What the definition says of where tokens and secrets go, as differences from nothing. Nil: the agent is too old to tell.
  package var differences: [DefinitionDifference]?

  package init(
    problems: [ConfigurationProblem], discovery: String? = nil, issuer: String? = nil, host: String? = nil,
    deviceFlow: Bool? = nil, grant: String? = nil, missingSecrets: [String]? = nil
  ) {
    self.problems = problems
    self.discovery = discovery
    self.issuer = issuer
    self.host = host
    self.deviceFlow = deviceFlow
    self.grant = grant
    self.missingSecrets = missingSecrets
  }

  /// Among ``missingSecrets``.
  package static let privateKey = "private_key"

  package enum CodingKeys: String, CodingKey {
    case problems, discovery, issuer, host, grant, concerns, differences
    case deviceFlow = "device_flow"
    case missingSecrets = "missing_secrets"
    case secretPlace = "secret_place"
    case secretURLs = "secret_urls"
    case definitionDigest = "definition_digest"
  }
}
