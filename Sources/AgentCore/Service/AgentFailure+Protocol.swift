import AgentWire
import OAuthProtocol

extension AgentFailure {
  /// What the account `name` says cannot be made into a request. The sentence goes on behind its name, as others do.
  init(_ error: ProtocolError, of name: String) {
    let sentence = error.description
    let clause = sentence.prefix(1).lowercased() + sentence.dropFirst()
    self.init(.configInvalid, "\(name): \(clause.hasSuffix(".") ? String(clause.dropLast()) : clause)")
  }
}
