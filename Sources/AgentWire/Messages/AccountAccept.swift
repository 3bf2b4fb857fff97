/// `account.accept`: binds the login to the account's present definition.
package struct AccountAccept: RequestParameters, Equatable {
  package typealias Answer = AccountAcceptAnswer
  package static let method = Method.accountAccept

  package var account: String
  /// Only says what would change.
  package var dryRun: Bool?
  /// Of the binding that was shown: needed to accept a difference, and another binding is refused.
  package var bindingDigest: String?
  /// With `dryRun`: what `login.start` would bind, and how that differs from the login and the secrets that are kept.
  package var login: Bool?
  /// With `login`: as in `login.start`.
  package var device: Bool?
  package var definitionDigest: String?
  package var secretsID: String?

  package init(
    account: String, dryRun: Bool? = nil, bindingDigest: String? = nil, login: Bool? = nil, device: Bool? = nil,
    definitionDigest: String? = nil, secretsID: String? = nil
  ) {
    self.account = account
    self.dryRun = dryRun
    self.bindingDigest = bindingDigest
    self.login = login
    self.device = device
    self.definitionDigest = definitionDigest
    self.secretsID = secretsID
  }

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable {
    case account, login, device
    case dryRun = "dry_run"
    case bindingDigest = "binding_digest"
    case definitionDigest = "definition_digest"
    case secretsID = "secrets_id"
  }
}

package struct AccountAcceptAnswer: Codable, Sendable, Equatable {
  package var differences: [DefinitionDifference]
  package var accepted: Bool
  /// SHA-256 in hex of the binding as a whole, with the endpoints that the server's metadata names.
  package var bindingDigest: String?
  /// The endpoints of that binding.
  package var endpoints: [String: String]?

  package init(
    differences: [DefinitionDifference], accepted: Bool, bindingDigest: String? = nil,
    endpoints: [String: String]? = nil
  ) {
    self.differences = differences
    self.accepted = accepted
    self.bindingDigest = bindingDigest
    self.endpoints = endpoints
  }

  package enum CodingKeys: String, CodingKey {
    case differences, accepted, endpoints
    case bindingDigest = "binding_digest"
  }
}
