package import AgentWire

/// Why a request has no result.
package enum ClientError: Error, Sendable, Equatable {
  /// No agent that can be trusted answered there, or it went before it answered. `isAbsent`: nobody listens there.
  case notReachable(path: String, reason: String, hint: NextStep, isAbsent: Bool = false)
  /// The agent's own answer.
  case failure(AgentFailure)
  /// What came is no answer of this protocol.
  case protocolViolation(String)
  /// No answer within this time. `hung`: the process of an agent that has what was asked for, and waits for no server.
  case timeout(milliseconds: Int, hung: Int32? = nil)
  /// No answer, since this process of the agent is stopped.
  case stopped(process: Int32)

  /// One line for people: what and why.
  package var message: String {
    switch self {
    case .notReachable(let path, let reason, _, _): "the agent cannot be reached at \(path): \(reason)"
    case .failure(let failure): failure.message
    case .protocolViolation(let reason): "the agent did not answer as expected: \(reason)"
    case .timeout(let milliseconds, let hung):
      "the agent\(hung.map { " (pid \($0))" } ?? "") did not answer within \(milliseconds) ms"
    case .stopped(let process): "the agent (pid \(process)) is stopped, and answers nobody"
    }
  }

  /// What to do next.
  package var hint: NextStep? {
    switch self {
    case .notReachable(_, _, let hint, _): hint
    case .failure(let failure): failure.hint
    case .protocolViolation:
      .run("oauthctl agent restart   # after an upgrade: oauthctl and oauthd are of one version then")
    case .timeout(_, let hung): hung.map(Self.remedy(ofHung:))
    case .stopped(let process): Self.remedy(ofStopped: process)
    }
  }

  /// The exit status of `oauthctl` (docs/protocol.md, "Exit status").
  package var exitStatus: Int32 {
    switch self {
    case .notReachable: 7
    case .failure(let failure): failure.exitStatus
    case .protocolViolation: 1
    case .timeout, .stopped: 6
    }
  }

  static func remedy(ofStopped process: Int32) -> NextStep { .run("kill -CONT \(process)") }

  /// The signal that lets it finish what it has sent to a server: killed meanwhile, it would lose a login.
  package static func remedy(ofHung process: Int32) -> NextStep {
    .run("kill \(process)   # if it stays so: it finishes its requests and ends, and the next command starts another")
  }
}
