import AgentWire
import Foundation
import Synchronization

/// Runs blocking work on a thread of its own: the cooperative ones are few.
func onThread<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
  await withCheckedContinuation { continuation in
    Thread.detachNewThread { continuation.resume(returning: work()) }
  }
}

/// A directory of this user alone, with a short path, removed with the object.
final class PrivateFolder: Sendable {
  let path: String

  init(mode: mode_t = 0o700) {
    var template = Array("/tmp/oc-XXXXXX".utf8CString)
    path =
      template.withUnsafeMutableBufferPointer { $0.baseAddress.flatMap { mkdtemp($0) } }.map { String(cString: $0) }
      ?? "/nowhere"
    chmod(path, mode)
  }

  func file(_ name: String, _ text: String, mode: mode_t = 0o600) {
    _ = FileManager.default.createFile(atPath: "\(path)/\(name)", contents: Data(text.utf8))
    chmod("\(path)/\(name)", mode)
  }

  func text(_ name: String) -> String {
    FileManager.default.contents(atPath: "\(path)/\(name)").map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// A listener that does to each connection what its script says, on a thread of its own.
final class FakeAgent: Sendable {
  enum Act: Sendable {
    /// Answers each request with this result, and its id.
    case answer(String)
    /// Answers with these bytes as they are.
    case raw(String)
    case closeAtOnce
    /// Answers, and a while after it has been read, goes on.
    case answerAndThen(String, String)
    case closeAfterReading
    case writeAndClose(String)
    /// Reads, and never answers.
    case silence
  }

  let path: String
  private let listener: Int32
  private let lines = Mutex<[String]>([])

  /// The request lines that arrived, without line feeds.
  var received: [String] { lines.withLock { $0 } }

  /// One act a connection; the last one goes on for all others.
  init(at path: String, _ script: [Act]) {
    self.path = path
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    listen(listener, 64)
    Thread.detachNewThread { [self] in
      var script = script[...]
      while case let connection = accept(listener, nil, nil), connection >= 0 {
        let act = script.count > 1 ? script.removeFirst() : script[script.startIndex]
        Thread.detachNewThread { [self] in serve(connection, act) }
      }
    }
  }

  /// Wakes the accepting thread, which lets go of this object.
  func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

  deinit { close(listener) }

  private func serve(_ connection: Int32, _ act: Act) {
    defer { close(connection) }
    if case .closeAtOnce = act { return }
    while let line = readLine(connection) {
      lines.withLock { $0.append(line) }
      switch act {
      case .answer(let result):
        let id = line.split(separator: ",").first { $0.hasPrefix("\"id\":") } ?? "\"id\":null"
        write(connection, "{\"jsonrpc\":\"2.0\",\(id),\"result\":\(result)}\n")
      case .raw(let text):
        write(connection, text)
      case .answerAndThen(let answer, let rest):
        write(connection, answer)
        var unread: Int32 = 1
        while ioctl(connection, UInt(TIOCOUTQ), &unread) == 0, unread > 0 { sched_yield() }
        write(connection, rest)
      case .writeAndClose(let text):
        write(connection, text)
        return
      case .closeAfterReading, .closeAtOnce:
        return
      case .silence:
        break
      }
    }
  }

  private func readLine(_ connection: Int32) -> String? {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while recv(connection, &byte, 1, 0) == 1 {
      if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
    return nil
  }

  private func write(_ connection: Int32, _ text: String) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { return }
      bytes.removeFirst(count)
    }
  }
}
