import CLinux
import OAuthProtocol
import Synchronization

/// Hands back the memory that a start, a request to a server or a crowd of callers needed, and that nothing needs since:
/// free pages of the heap, and pages of the program.
///
/// The program's are two thirds of what is resident then. The kernel would take them too, but only on a machine that is
/// short of memory, and until then they count as the agent's.
final class IdleMemoryRelease: Sendable {
  /// Long enough for what follows at once, and a second more than the five that a thread of Swift's pool waits for work
  /// before it ends: one that is woken by this keeps its stack, with what deeper calls have left there, for five more.
  private static let delay = Duration.seconds(6)

  private let isDue = Mutex(false)
  private let owed: PendingAnswers
  private let sleep: @Sendable (Duration) async throws -> Void
  private let giveBack: @Sendable () -> Void

  /// Nothing is handed back while answers are `owed`: whoever allocates meanwhile would wait for it.
  init(
    owed: PendingAnswers,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
    giveBack: @escaping @Sendable () -> Void = { clinux_give_back_idle_pages() }
  ) {
    self.owed = owed
    self.sleep = sleep
    self.giveBack = giveBack
  }

  /// To be called after what is done seldom.
  func giveBackSoon() {
    let wasDue = isDue.withLock { isDue in
      defer { isDue = true }
      return isDue
    }
    guard !wasDue else { return }
    Task {
      repeat { try? await sleep(Self.delay) } while owed.count > 0
      isDue.withLock { $0 = false }
      giveBack()
    }
  }
}

/// Gives back what a request needed.
struct MemoryReleasingTransport: HTTPTransport {
  let inner: any HTTPTransport
  let pages: IdleMemoryRelease

  func perform(_ request: HTTPRequest, route: HTTPRoute) async -> HTTPOutcome {
    defer { pages.giveBackSoon() }
    return await inner.perform(request, route: route)
  }
}
