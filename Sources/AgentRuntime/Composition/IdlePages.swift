import CLinux
import NIOCore
import OAuthProtocol

/// Hands back the memory that a start, a request to a server or a crowd of callers needed, and that nothing needs since:
/// free pages of the heap, and pages of the program.
///
/// The program's are two thirds of what is resident then. The kernel would take them too, but only on a machine that is
/// short of memory, and until then they count as the agent's.
struct IdlePages: Sendable {
  /// Long enough for what follows at once.
  private static let delay: TimeAmount = .seconds(5)

  private let loop: any EventLoop
  private let timer: NIOLoopBoundBox<Scheduled<Void>?>

  init(on loop: any EventLoop) {
    self.loop = loop
    timer = .makeEmptyBox(valueType: Scheduled<Void>.self, eventLoop: loop)
  }

  /// To be called after what is done seldom.
  func giveBackSoon() {
    loop.execute {
      guard timer.value == nil else { return }
      timer.value = loop.scheduleTask(in: Self.delay) {
        timer.value = nil
        clinux_give_back_idle_pages()
      }
    }
  }
}

/// Gives back what a request needed.
struct SettlingTransport: HTTPTransport {
  let inner: any HTTPTransport
  let pages: IdlePages

  func perform(_ request: HTTPRequest, route: HTTPRoute) async -> HTTPOutcome {
    defer { pages.giveBackSoon() }
    return await inner.perform(request, route: route)
  }
}
