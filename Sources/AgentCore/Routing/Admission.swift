/// Who may have what. Every request passes here, the ready path too; today every process of the agent's own user is
/// admitted to everything, since nothing on Unix tells one program of a user from another.
package struct Admission: Sendable {
  package enum Verdict: Sendable, Equatable {
    case allow
    case deny(reason: String)
  }

  /// The uid that the agent runs as.
  private let uid: UInt32

  package init(uid: UInt32) { self.uid = uid }

  package func admit(_ caller: Caller) -> Verdict {
    caller.uid == uid ? .allow : .deny(reason: "the agent serves the user with uid \(uid) only")
  }
}
