/// Something that makes the agent worse than it should be, in `agent.status`.
package struct AgentCondition: Codable, Sendable, Equatable {
  package enum Kind: String, Codable, Sendable {
    /// This machine's clock and a server's differ.
    case clock
    /// The log cannot be written.
    case log
    /// The process was started with a limit that is too low.
    case limit
    /// A server cannot be reached, or is too slow.
    case server
    /// Secrets are protected less than they could be.
    case protection
    case other

    /// A newer agent may know kinds that this client does not.
    package init(from decoder: any Decoder) throws {
      self = Kind(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .other
    }
  }

  package var kind: Kind
  /// One line for people.
  package var message: String
  /// One line for people: what to do about it.
  package var hint: String?
  /// `command` where `hint` is one.
  package var hintKind: String?

  package init(_ kind: Kind, _ message: String, hint: NextStep? = nil) {
    self.kind = kind
    self.message = message
    self.hint = hint?.text
    hintKind = hint?.kind
  }

  package enum CodingKeys: String, CodingKey {
    case kind, message, hint
    case hintKind = "hint_kind"
  }
}
