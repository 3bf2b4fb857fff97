/// What a person can do next.
package enum NextStep: Sendable, Equatable {
  /// A command to type, as it stands. What comes after a `#` is a remark for the reader.
  case run(String)
  /// Anything else, in words.
  case advice(String)

  /// What `hint_kind` says of a command. Other values, and none, mean words.
  private static let command = "command"

  /// As it came over the wire: `hint` and `hint_kind`.
  init?(_ text: String?, kind: String?) {
    guard let text else { return nil }
    self = kind == Self.command ? .run(text) : .advice(text)
  }

  /// `hint` on the wire.
  package var text: String {
    switch self {
    case .run(let text), .advice(let text): text
    }
  }

  /// `hint_kind` on the wire.
  package var kind: String? {
    switch self {
    case .run: Self.command
    case .advice: nil
    }
  }

  /// As people read it.
  package var line: String {
    switch self {
    case .run(let command): "run: " + command
    case .advice(let words): words
    }
  }

  /// What gives the agent its usual folder again, where it has `variable`.
  package static func restart(without variable: String) -> NextStep {
    .run(
      "unset \(variable) && oauthctl agent restart   # where systemd starts the agent: take it out of environment.d(5), then "
        + "systemctl --user daemon-reload && oauthctl agent restart")
  }

  /// Where no account is there yet. `issuer`: the server, where it is known.
  package static func firstLogin(_ issuer: String = "ISSUER") -> NextStep {
    .run(
      "oauthctl login NAME \(issuer) --client-id ID   # or, where the server registers clients: oauthctl login "
        + (issuer == "ISSUER" ? "URL" : issuer))
  }

  /// `what` is wrong, and this helps: in one line, as the hint of an account tells it whose login still works.
  package func line(after what: String) -> String { "\(what); \(line)" }

  /// The same kind of step with another text.
  package func map(_ change: (String) -> String) -> NextStep {
    switch self {
    case .run(let command): .run(change(command))
    case .advice(let words): .advice(change(words))
    }
  }
}

/// A text alone is advice: a command has to be called one.
extension NextStep: ExpressibleByStringInterpolation {
  package init(stringLiteral value: String) { self = .advice(value) }
}

extension AccountSummary {
  /// What a person can do about its state.
  package var nextStep: NextStep? { NextStep(hint, kind: hintKind) }
}

extension ConfigurationProblem {
  /// What a person can do about it.
  package var nextStep: NextStep { NextStep(hint, kind: hintKind) ?? Self.edit }
}

extension VaultStatusAnswer {
  /// Whether nothing but a backup brings it back, so that another may take its place on the user's word.
  package var isLost: Bool { gone == true || state == .damaged && otherSlotOpens != true }

  /// What a person can do about it, where its state alone does not say.
  package var nextStep: NextStep? { NextStep(hint, kind: hintKind) }
}

extension AgentCondition {
  /// What a person can do about it.
  package var nextStep: NextStep? { NextStep(hint, kind: hintKind) }
}

extension AccountConcern {
  /// What a person can do about it.
  package var nextStep: NextStep { NextStep(hint, kind: hintKind) ?? .advice(hint) }
}
