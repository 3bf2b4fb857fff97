import FetchWire
import OAuthProtocol

/// How far the exchange with one helper came, whatever became of the process.
///
/// An answer outlives every later trouble with the process that brought it: called unsent, a rotated refresh token would
/// be lost with it.
enum FetchStage: Sendable {
  /// No helper, or none that was told anything.
  case notStarted
  /// A helper, and no thread to talk to it.
  case noThread
  /// The helper closed its pipe without a verdict.
  case vanished(sent: Bool)
  /// The outcome was told as soon as it was known.
  case told

  /// Whether the conversation has closed the agent's ends of the pipes: their numbers may be another file's by now.
  var hasClosedPipes: Bool {
    switch self {
    case .notStarted, .noThread: false
    case .vanished, .told: true
    }
  }

  /// What is still to be told. `status` is how the process ended; nil: not known.
  func outcome(helper: String, status: String?) -> HTTPOutcome? {
    switch self {
    case .notStarted:
      return .notSent(
        HTTPFailure(.helper, plainText("\(helper) could not be started; check the installation")))
    case .noThread: return .notSent(HTTPFailure(.helper, "no thread left for a request"))
    case .vanished(let sent):
      let failure = HTTPFailure(
        .helper, plainText("oauthd-fetch ended without an answer (\(status ?? "status unknown"))"))
      return sent ? .sentNoAnswer(failure) : .notSent(failure)
    case .told: return nil
    }
  }
}
