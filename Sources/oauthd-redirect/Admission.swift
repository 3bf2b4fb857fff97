import FetchWire
import Glibc
import NIOCore

/// Connections that wait until the agent has said whose they are; no byte of them is read before. Used on its event loop
/// only.
///
/// When many wait no more are accepted, so that a stranger who connects again and again delays the user for some of the
/// agent's look-ups, and does not take the user's place.
final class Admission {
  struct Stranger: Error {}

  private let limit: Int
  private let loop: any EventLoop
  private let tell: (RedirectReport) -> Void
  private var waiting: [UInt32: EventLoopPromise<UInt32>] = [:]
  private var last: UInt32 = 0
  /// The listening channel, while it accepts nobody.
  private var paused: (any Channel)?
  private var isClosed = false

  init(limit: Int, loop: any EventLoop, tell: @escaping (RedirectReport) -> Void) {
    self.limit = limit
    self.loop = loop
    self.tell = tell
  }

  /// The connection's number, once it is admitted; fails when it is not to be served.
  func ask(_ channel: any Channel) -> EventLoopFuture<UInt32> {
    let promise = loop.makePromise(of: UInt32.self)
    guard !isClosed, waiting.count < limit, let client = channel.remoteAddress, let address = client.ipAddress,
      let port = client.port.flatMap(UInt16.init(exactly:))
    else {
      promise.fail(Stranger())
      return promise.futureResult
    }
    last &+= 1
    waiting[last] = promise
    tell(.arrived(last, address: address, port: port))
    // A few more may have been accepted together with this one.
    if waiting.count >= limit / 2 { pause(channel.parent) }
    return promise.futureResult.flatMap { number in Self.whole(channel).map { number } }
  }

  /// Fails when the client has ended the connection. A port that is free again may be another user's by the time it is
  /// looked up, while what the first one sent is still here to be read: who was found is the client only if the connection
  /// has stood until then.
  private static func whole(_ channel: any Channel) -> EventLoopFuture<Void> {
    guard let options = channel as? any SocketOptionProvider else {
      return channel.eventLoop.makeFailedFuture(Stranger())
    }
    return options.getTCPInfo().flatMapThrowing { info in
      guard Int(info.tcpi_state) == Int(TCP_ESTABLISHED) else { throw Stranger() }
    }
  }

  func settle(_ number: UInt32, isAdmitted: Bool) {
    guard let promise = waiting.removeValue(forKey: number) else { return }
    if isAdmitted { promise.succeed(number) } else { promise.fail(Stranger()) }
    if waiting.count < limit / 2 { goOn() }
  }

  /// Refuses all that wait and that come.
  func close() {
    isClosed = true
    let refused = waiting.values
    waiting = [:]
    for promise in refused { promise.fail(Stranger()) }
  }

  private func pause(_ listener: (any Channel)?) {
    guard paused == nil, let listener, let options = listener.syncOptions else { return }
    paused = listener
    try? options.setOption(.autoRead, value: false)
  }

  private func goOn() {
    let listener = paused
    paused = nil
    try? listener?.syncOptions?.setOption(.autoRead, value: true)
  }
}
