import AgentWire

/// When a refresh token may be sent a second time: whoever changes it can have a server that takes that for theft end the
/// login.
package struct ResendPolicy: Sendable, Equatable, Codable {
  package var ambiguousRetry: AmbiguousRetry
  package var reuseGraceSeconds: Double?

  package init(_ definition: AccountDefinition) {
    ambiguousRetry = definition.ambiguousRetry
    reuseGraceSeconds = definition.reuseGraceSeconds
  }

  /// As the account file spells it.
  var reuseGrace: String? { reuseGraceSeconds.map { String(Int($0)) } }

  func differences(from now: ResendPolicy) -> [DefinitionDifference] {
    [
      DefinitionDifference("ambiguous_retry", from: ambiguousRetry.rawValue, to: now.ambiguousRetry.rawValue),
      DefinitionDifference("reuse_grace_s", from: reuseGrace, to: now.reuseGrace),
    ].compactMap(\.self)
  }

  private enum CodingKeys: String, CodingKey {
    case ambiguousRetry = "ambiguous_retry"
    case reuseGraceSeconds = "reuse_grace_s"
  }
}
