import AgentClient
import Glibc

/// When a watch looks again: when the agent tells of a change; every second where no agent tells any.
final class WatchedChanges {
  /// Microseconds in which events are gathered: they come in groups, and a look costs more than they do.
  private static let gatherMicroseconds: UInt32 = 50_000
  /// Microseconds between two looks where no agent tells of changes: a person sees a second's delay as at once.
  private static let pollMicroseconds: UInt32 = 1_000_000

  private let milliseconds: Int32?
  private var stream: EventStream?

  /// `milliseconds`: the longest wait without a redrawing; nil: nothing is redrawn.
  init(milliseconds: Int32?) { self.milliseconds = milliseconds }

  func next() -> StatusWatch.Next {
    guard let stream else {
      stream = try? AgentStarter().events()
      // What changed before the subscription is not told.
      if stream == nil { usleep(Self.pollMicroseconds) }
      return .look
    }
    switch stream.wait(milliseconds: milliseconds, output: STDOUT_FILENO) {
    case .told: usleep(Self.gatherMicroseconds)
    case .quiet: return .redraw
    case .closed: self.stream = nil
    case .unread: return .end
    }
    return .look
  }
}
