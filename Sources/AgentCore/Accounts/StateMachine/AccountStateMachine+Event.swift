package import AgentWire
package import Sealing

/// What goes into the machine, and what comes out.
extension AccountStateMachine {
  package typealias WaiterID = UInt64
  package typealias ChangeID = UInt64

  /// Somebody who asked for a token.
  package struct Waiter: Sendable {
    package var id: WaiterID
    package var key: TokenKey
    /// Seconds, as named in the request.
    package var minimumValiditySeconds: Double?
    package var rejected: Fingerprint?
    /// Where it was rejected, as origin and path; nil: nobody said.
    package var place: String?
    package var force: Bool
    package var bestEffort: Bool
    /// Boot time at which it stops waiting.
    package var deadline: Double
    /// The last call that had begun when it asked.
    var callsBefore: UInt64 = 0

    package init(
      id: WaiterID, key: TokenKey = .standard, minimumValiditySeconds: Double? = nil, rejected: Fingerprint? = nil,
      place: String? = nil, force: Bool = false, bestEffort: Bool = false, deadline: Double
    ) {
      self.id = id
      self.key = key
      self.minimumValiditySeconds = minimumValiditySeconds
      self.rejected = rejected
      self.place = place
      self.force = force
      self.bestEffort = bestEffort
      self.deadline = deadline
    }
  }

  /// All that can happen to an account. Its owner hands in nothing else, so nothing else changes it. `random` is in 0..<1,
  /// and spreads what is planned.
  package enum Event: Sendable {
    /// Somebody asks for a token.
    case asked(Waiter)
    /// An API refused a token (`token.reject`): nothing is started, the next `asked` refreshes.
    case rejected(Fingerprint, at: String?)
    /// The time of these waiters is over. The refresh they wait for goes on.
    case timedOut(Set<WaiterID>)
    /// A change is asked for; `Action.changed` says when it is durable.
    case changed(AccountChange, ChangeID)
    /// The definition file was read again; nil: it is gone.
    case defined(AccountDefinition?)

    /// It has the place that it wished for. The place is its own until the call has ended; without a call under way it is
    /// free again.
    case placed
    /// The last `save` or `erase` is durable, or failed.
    case saved(random: Double)
    case saveFailed(AgentFailure, random: Double)
    /// The call with this number ended. Nothing happens for one that nobody here waits for.
    case callEnded(UInt64, TokenCallEnd, random: Double)
    /// The revocation sent last ended. The id names the change that removes it.
    case revocationEnded(RevocationRecord, RevocationEnd, ChangeID, random: Double)
    /// What waits to be revoked and could end a login that is about to begin is to be sent now, whatever is known of its server.
    case revocationAsked(before: LoginAtServer)

    /// Another vault lies in the place of the one that was open. `found`: the newer record of the account there, empty where it has
    /// forgotten it; nil: what is here is newer. `afterRollback`: `RecordStore.rolledBackFrom` of that vault.
    case replaced(AccountRecord?, afterRollback: UInt64?)
    /// The time of `wake(at:)` has come. `asked`: boot time of the last request that was answered without the machine.
    case woke(asked: Double?)
    /// The wall clock had moved, and its server was asked for the time: the machine may have stood still. The id
    /// names the change that makes it durable; until then it holds all the same.
    case aged(MissedTime, ChangeID)
    /// What keeps it from sending, as its server was seen last, and the servers of its next revocations. `beside`: logins
    /// of other accounts, and those under way, that they could end. `lender`: why its tokens, which were got for another
    /// account's, are given to nobody. `order`: see ``AccountRecord/order``, of what is kept by the next event.
    case held(
      ServerHold?, revocations: [RevocationQueue.Lane: ServerHold], beside: [LoginAtServer], lender: AgentFailure?,
      order: UInt64 = 0)
    /// Its server, which had not answered, answers again: the account's own back-off has no reason any more.
    case serverAnswered
    /// See `RecordStore.rolledBackFrom`.
    case rolledBack(from: UInt64?)

    /// Nothing more is sent. Waiters are told the failure; without one they are told that the agent stops, but for those of
    /// a request under way, who wait for its answer. A rotated refresh token that could not be saved is tried once more.
    case closed(AgentFailure?)
    /// What `closed` stopped goes on: the vault was not locked after all.
    case reopened
    /// Refresh tokens that came late for this account: they are saved before anything is sent.
    case late([LateToken])
    /// Calls of this account that were sent before a lock, with the refresh token that it still has: their answers are
    /// waited for, and nothing is sent beside them.
    case adopted([TokenCall])
  }

  /// What the driver does next. Indirect, since thousands of answers stand in one list, where each would take as much room
  /// as a whole record.
  package indirect enum Action: Sendable {
    /// Make the record durable, then say `saved` or `saveFailed`.
    case save(AccountRecord)
    /// Delete the record durably, then say `saved` or `saveFailed`.
    case erase
    /// Send it once, at once, then say `callEnded`.
    case send(TokenCall)
    /// Tell the server, then say `revocationEnded`.
    case revoke(RevocationRecord, clientSecret: Secret?)
    /// Take the account's entry of the ready tokens anew from `ready`. Always before the answers that depend on it.
    case publish
    case deliver(WaiterID, TokenRecord)
    case refuse(WaiterID, AgentFailure)
    /// What `rejected` has led to.
    case judged(TokenRejectAnswer.Verdict)
    /// A change asked for by `changed` is durable, or failed.
    case changed(ChangeID, AgentFailure?)
  }
}
