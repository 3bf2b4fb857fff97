import AgentWire
import OAuthTerms

/// What a grant that asks for its tokens anew, without a person, asks for (RFC 6749 §4.3 to §4.5, RFC 7523 §2.1, RFC
/// 8693): whoever changes it changes what the kept secret, or another account's token, is used for.
package struct UnattendedRequest: Sendable, Equatable, Codable {
  /// Sorted: their order says nothing (RFC 6749 §3.3).
  package var scope: [String]
  package var resource: [String]
  package var audience: [String]
  package var username: String?
  package var lent: LentTokens?
  /// An extension's.
  package var grantType: String?

  /// What a grant that a person gives asks for by itself.
  static let nothing = UnattendedRequest()

  private init() { (scope, resource, audience) = ([], [], []) }

  /// Nil for a grant that a person gives.
  package init?(_ definition: AccountDefinition) {
    guard definition.grant.isUnattended else { return nil }
    scope = definition.scope.sorted()
    resource = definition.resource.sorted()
    audience = definition.audience.sorted()
    username = definition.username
    lent = definition.lent
    grantType = definition.grantType
  }

  func differences(from now: UnattendedRequest) -> [DefinitionDifference] {
    func line(_ values: [String]) -> String? {
      values.isEmpty ? nil : values.map { DefinitionBinding.escaped($0, " %") }.joined(separator: " ")
    }
    let compared = [
      ("scope", line(scope), line(now.scope)), ("resource", line(resource), line(now.resource)),
      ("audience", line(audience), line(now.audience)), ("username", username, now.username),
      ("grant_type", grantType, now.grantType),
    ]
    return compared.compactMap { DefinitionDifference($0.0, from: $0.1, to: $0.2) }
      + LentTokens.differences(lent, now.lent)
  }

  private enum CodingKeys: String, CodingKey {
    case scope, resource, audience, username, lent
    case grantType = "grant_type"
  }
}

extension GrantKind {
  /// Whether its tokens are asked for anew without a person, with a secret that is kept.
  var isUnattended: Bool {
    switch terms.giver {
    case .browser, .device: false
    case .nobody: true
    }
  }
}

extension SecretKind {
  /// Nil: no secret of the account itself is needed.
  init?(_ need: GrantKind.Need) {
    switch need {
    case .clientSecret, .privateKey: self = .clientSecret
    case .password: self = .password
    case .otherLogin: return nil
    }
  }
}
