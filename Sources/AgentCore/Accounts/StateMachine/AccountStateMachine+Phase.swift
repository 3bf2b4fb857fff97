import AgentWire

/// What the machine is at, and what is told once that has ended.
extension AccountStateMachine {
  indirect enum Phase: Sendable {
    case idle
    case saving(AccountRecord?, Purpose)
    case sending(Flight)

    var name: PhaseName {
      switch self {
      case .idle: .idle
      case .saving(_, .intent): .savingIntent
      case .saving(_, .secondIntent): .savingSecondIntent
      case .saving(_, .answer): .savingAnswer
      case .saving(_, .change): .savingChange
      case .saving(_, .retrySave): .retryingSave
      case .sending: .sending
      }
    }
  }

  enum Purpose: Sendable {
    case intent(TokenCall)
    /// The same refresh token once more, while the first request is still open.
    case secondIntent(TokenCall, beside: Flight)
    /// After an answer: what to tell the waiters once it is durable.
    case answer(TokenCall?, Outcome)
    /// `eases`: what held refreshes back may be mended by it. `isOnlyCopy`: nobody else has what is saved.
    case change(ChangeID, eases: Bool, isOnlyCopy: Bool = false)
    case retrySave
  }

  /// What follows once an answer is durable: it is kept from the moment the answer is judged until the disk has it.
  enum Outcome: Sendable {
    /// Who waits gets the new token.
    case token
    /// Everybody who waits is told so.
    case failed(AgentFailure)
    /// The server does not give a token for this key; the other keys are not concerned.
    case keyRefused(AgentFailure)
    /// Another call follows at once.
    case again(TokenCall)
    /// Nothing is known yet: the refresh token, or the other one that is kept, is sent once more, and who waits goes on
    /// waiting.
    case undecided
  }

  /// The phases by name, and what one event can turn each into. ``PhaseTests`` compares that with what happens.
  enum PhaseName: String, Sendable, CaseIterable {
    /// Nothing is under way.
    case idle
    /// A refresh token is about to be sent, and that is being written down.
    case savingIntent
    /// The same for the second request within the server's reuse window; the first is still open.
    case savingSecondIntent
    /// What a call brought is being made durable, or that it brought nothing.
    case savingAnswer
    /// Something that was asked for beside the refreshes is: a login, a logout, a secret.
    case savingChange
    /// What a call brought could not be made durable, and is tried once more.
    case retryingSave
    /// One request is open, or two within the server's reuse window.
    case sending

    var next: Set<PhaseName> {
      switch self {
      case .idle: [.savingIntent, .savingAnswer, .savingChange, .retryingSave, .sending]
      case .savingIntent: [.sending, .savingAnswer, .savingChange, .idle]
      case .savingSecondIntent: [.sending, .savingAnswer, .savingChange, .idle]
      case .savingAnswer: [.sending, .savingIntent, .savingChange, .retryingSave, .idle]
      case .savingChange: [.savingAnswer, .retryingSave, .idle]
      case .retryingSave: [.savingAnswer, .savingChange, .idle]
      case .sending: [.savingSecondIntent, .savingAnswer, .savingChange, .idle]
      }
    }
  }
}
