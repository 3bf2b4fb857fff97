import Glibc

@testable import AgentRuntime

/// A service manager that only listens.
final class NotifyReceiver: Sendable {
  let notifier: ServiceNotifier
  private let descriptor: Int32
  private let folder: ScratchFolder

  struct Failure: Error { let errno: Int32 }

  init(isAbstract: Bool = false) throws {
    folder = try ScratchFolder()
    let path = folder.path + "/notify"
    notifier = ServiceNotifier(environment: ["NOTIFY_SOCKET": (isAbstract ? "@" : "") + path])
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let name = (isAbstract ? [0] : []) + Array(path.utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    let length = socklen_t(2 + name.count + (isAbstract ? 0 : 1))
    let bound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
    }
    guard bound == 0 else { throw Failure(errno: errno) }
  }

  deinit { close(descriptor) }

  /// The next datagram; nil when there is none.
  func next() -> String? {
    var buffer = [UInt8](repeating: 0, count: 16_384)
    let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
    return count < 0 ? nil : String(decoding: buffer.prefix(count), as: UTF8.self)
  }

  var isEmpty: Bool {
    var byte: UInt8 = 0
    return recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT) | Int32(MSG_PEEK)) < 0
  }
}
