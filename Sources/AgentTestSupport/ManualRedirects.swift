package import AgentCore
import AgentWire
import Sealing
import Synchronization

/// Redirect listeners without sockets: a test sends the hits.
package final class ManualRedirects: RedirectReceiver {
  private struct Listening: RedirectListening {
    let port: Int
    let certificateEnd: Int?
    let receiver: ManualRedirects
    func close() async {
      await receiver.whileClosing()
      receiver.close(port)
    }
  }

  private struct State {
    var lastPort = 40_000
    var handlers: [Int: @Sendable (RedirectHit) async -> RedirectPage] = [:]
    var taken: Set<String> = []
    var refusals = 0
    var absent: Set<String> = []
    var broken: Set<String> = []
    var whileClosing: @Sendable () async -> Void = {}
    var certificateEnd: Int?
  }

  private let state = Mutex(State())

  package init() {}

  /// Makes `port` one that another program holds on `host`.
  package func take(_ port: Int, on host: String = "127.0.0.1") {
    _ = state.withLock { $0.taken.insert("\(host) \(port)") }
  }

  package func free(_ port: Int, on host: String = "127.0.0.1") {
    _ = state.withLock { $0.taken.remove("\(host) \(port)") }
  }

  /// How often a port was wanted that somebody held.
  package var refusals: Int { state.withLock { $0.refusals } }

  /// Every listener closes only after `work`.
  package func whileClosing(_ work: @escaping @Sendable () async -> Void) { state.withLock { $0.whileClosing = work } }

  private func whileClosing() async { await state.withLock { $0.whileClosing }() }

  /// When the certificate of each listener with an identity ends, in seconds since 1970.
  package func endCertificates(at end: Int) { state.withLock { $0.certificateEnd = end } }

  /// Makes `host` an address that the machine does not have.
  package func remove(_ host: String) { _ = state.withLock { $0.absent.insert(host) } }

  /// Nobody can listen on `host`, though the machine has it.
  package func breakListener(on host: String) { _ = state.withLock { $0.broken.insert(host) } }

  /// The port that is chosen next.
  package var nextPort: Int { state.withLock { $0.lastPort + 1 } }

  package func identity(_ files: RedirectIdentityFiles, host: String) async throws -> RedirectIdentity {
    guard !files.key.hasSuffix(".missing") else {
      throw RedirectListenerError("no key", isOfFile: true, hint: "make one")
    }
    return RedirectIdentity(host: host, files: files, chain: Array("chain".utf8), key: Secret("key"))
  }

  package func listen(
    host: String, port: Int, identity: RedirectIdentity?,
    onHit: @escaping @Sendable (RedirectHit) async -> RedirectPage
  ) async throws -> any RedirectListening {
    let bound: Int? = try state.withLock { state in
      guard !state.broken.contains(host) else { throw RedirectListenerError("no process for \(host)") }
      guard !state.absent.contains(host) else {
        throw RedirectListenerError("this computer has no address \(host)", isForOthers: false)
      }
      guard !state.taken.contains("\(host) \(port)") else {
        state.refusals += 1
        return nil
      }
      state.lastPort += 1
      let bound = port == 0 ? state.lastPort : port
      state.handlers[bound] = onHit
      return bound
    }
    guard let bound else { throw RedirectListenerError("port \(port) on \(host) is in use", isTaken: true) }
    let end = identity == nil ? nil : state.withLock(\.certificateEnd)
    return Listening(port: bound, certificateEnd: end, receiver: self)
  }

  /// Ports that somebody listens on.
  package var open: [Int] { state.withLock { $0.handlers.keys.sorted() } }

  private func close(_ port: Int) { state.withLock { $0.handlers[port] = nil } }

  /// A browser asks the listener on `port` for `target`.
  package func hit(port: Int, method: String = "GET", target: String) async -> RedirectPage? {
    let handler = state.withLock { $0.handlers[port] }
    return await handler?(RedirectHit(method: method, target: target))
  }
}
