package import AgentWire
import Synchronization

/// What changed, for the connections that asked to be told.
///
/// All share the last events; each is at a place of its own among them. So a slow one costs nobody anything: what is
/// older than the last ``AgentWire/WireLimits/eventsKept`` is lost to it, and it is told how much that was.
package final class EventFeed: Sendable {
  private struct Reader {
    /// The number of the event it gets next.
    var next: UInt64
    /// Called once when there is an event to fetch; nil: it is busy, and fetches before it sleeps.
    var wake: (@Sendable () -> Void)?
  }

  private struct State {
    /// Event number `n` stands at `n` modulo the capacity.
    var lines: [[UInt8]] = []
    var end: UInt64 = 0
    var readers: [UInt64: Reader] = [:]
  }

  private let state = Mutex(State())

  package init() {}

  /// Whether anybody is subscribed: without subscribers nothing needs to be found out.
  package var isFollowed: Bool { state.withLock { !$0.readers.isEmpty } }

  /// From now on `connection` is subscribed; a second time changes nothing. False: too many are.
  package func add(_ connection: UInt64) -> Bool {
    state.withLock { state in
      if state.readers[connection] != nil { return true }
      guard state.readers.count < WireLimits.subscribers else { return false }
      state.readers[connection] = Reader(next: state.end)
      return true
    }
  }

  package func contains(_ connection: UInt64) -> Bool { state.withLock { $0.readers[connection] != nil } }

  package func remove(_ connection: UInt64) {
    state.withLock { state in
      state.readers[connection] = nil
      if state.readers.isEmpty { state = State() }
    }
  }

  package func tell(_ event: AgentEvent) {
    let woken = state.withLock { state -> [@Sendable () -> Void] in
      guard !state.readers.isEmpty else { return [] }
      if state.lines.count < WireLimits.eventsKept {
        state.lines.append(event.line)
      } else {
        state.lines[Int(state.end % UInt64(WireLimits.eventsKept))] = event.line
      }
      state.end += 1
      var woken: [@Sendable () -> Void] = []
      for connection in state.readers.keys {
        guard let wake = state.readers[connection]?.wake else { continue }
        state.readers[connection]?.wake = nil
        woken.append(wake)
      }
      return woken
    }
    for wake in woken { wake() }
  }

  /// The next line for `connection`; nil when there is none, and then `wake` is called once there is.
  package func next(for connection: UInt64, orWake wake: @escaping @Sendable () -> Void) -> [UInt8]? {
    state.withLock { state in
      guard let reader = state.readers[connection] else { return nil }
      guard reader.next < state.end else {
        state.readers[connection]?.wake = wake
        return nil
      }
      let kept = UInt64(WireLimits.eventsKept)
      let oldest = state.end > kept ? state.end - kept : 0
      if reader.next < oldest {
        state.readers[connection]?.next = oldest
        return AgentEvent.lost(Int(oldest - reader.next)).line
      }
      state.readers[connection]?.next += 1
      return state.lines[Int(reader.next % kept)]
    }
  }
}
