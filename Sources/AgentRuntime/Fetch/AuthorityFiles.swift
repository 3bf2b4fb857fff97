import FetchWire
import OAuthProtocol
import Sealing
import Synchronization

/// Private authorities as they are when a request is sent: the bytes that were compared are the bytes that the helper gets.
///
/// Files are read on threads made for it, one at a time for each path. A file system may hang: nobody waits longer for it
/// than ``patience``.
final class AuthorityFiles: Sendable {
  typealias Content = Result<[UInt8], HTTPFailure>
  /// How a file is read, for tests.
  typealias Reading = @Sendable (String) -> Result<[UInt8], TrustedFile.Failure>

  private struct State {
    var last = 0
    var waiting: [String: [Int: CheckedContinuation<Content, Never>]] = [:]
  }

  private let patience: Duration
  private let read: Reading
  private let state = Mutex(State())

  init(patience: Duration = .seconds(5), read: @escaping Reading) {
    self.patience = patience
    self.read = read
  }

  /// Files of `uid` or root, as those of the configuration.
  convenience init(uid: UInt32) {
    self.init { path in
      Result { () throws(TrustedFile.Failure) in
        try TrustedFile.read(path, uid: uid, limitBytes: ConfigurationLimits.certificateBytes)
      }
    }
  }

  /// The certificates that `authority` holds, when its file is what it must be.
  func content(_ authority: NamedAuthority) async -> Content {
    await now(authority.file).flatMap { bytes in
      guard !bytes.isEmpty else { return .failure(Self.failure(authority.file, "is empty")) }
      let certificates = PEMBlocks.certificates(in: bytes)
      guard PEMBlocks.digest(certificates, of: bytes) == authority.digest else {
        return .failure(Self.failure(authority.file, "is no longer the one that was agreed to"))
      }
      guard !certificates.isEmpty else { return .failure(Self.failure(authority.file, "holds no certificate (PEM)")) }
      return .success(certificates)
    }
  }

  private func now(_ path: String) async -> Content {
    let number = state.withLock { state in
      state.last += 1
      return state.last
    }
    let late = Task { [patience] in
      guard (try? await Task.sleep(for: patience)) != nil else { return }
      let waiter = self.state.withLock { $0.waiting[path]?.removeValue(forKey: number) }
      waiter?.resume(returning: .failure(HTTPFailure(.helper, "its ca_file \(plainText(path)) cannot be read in time")))
    }
    defer { late.cancel() }
    return await withCheckedContinuation { waiter in
      let isFirst = state.withLock { state in
        defer { state.waiting[path, default: [:]][number] = waiter }
        return state.waiting[path] == nil
      }
      guard isFirst else { return }
      let isStarted = startThread(name: "authority", stackBytes: 256 << 10) { [self] in finish(path, read(path)) }
      if !isStarted { finish(path, .failure(.refused("cannot be read: no thread left"))) }
    }
  }

  private func finish(_ path: String, _ result: Result<[UInt8], TrustedFile.Failure>) {
    let content = result.mapError { Self.failure(path, $0.told) }
    let waiters = state.withLock { $0.waiting.removeValue(forKey: path) } ?? [:]
    for waiter in waiters.values { waiter.resume(returning: content) }
  }

  private static func failure(_ path: String, _ sentence: String) -> HTTPFailure {
    HTTPFailure(.authority, "its ca_file \(plainText(path)) \(sentence); nothing was sent")
  }
}
