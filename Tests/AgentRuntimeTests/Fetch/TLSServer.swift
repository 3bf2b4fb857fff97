import Foundation
import Glibc
import OAuthProtocol
import Sealing
import Synchronization

/// A throw-away certificate authority, certificates of it, and `openssl s_server` behind them.
struct TestAuthority {
  let folder: URL
  var file: String { folder.appendingPathComponent("ca.pem").path }

  struct ToolFailed: Error { var arguments: [String] }

  init() async throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("tls-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try await openssl(
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
      "/CN=Test authority", "-keyout", "ca.key", "-out", "ca.pem")
  }

  /// As it is now.
  func named() throws -> NamedAuthority? {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
    return NamedAuthority(file: file, digest: Hex.encode(Digest.sha256(bytes)))
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }

  /// Makes NAME.key and NAME.pem for `subject` (`IP:127.0.0.1`), from `start` on (`openssl x509 -days`).
  func issue(_ name: String, for subject: String, days: Int = 2) async throws {
    let names = folder.appendingPathComponent(name + ".ext")
    try Data("subjectAltName=\(subject)\n".utf8).write(to: names)
    try await openssl(
      "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=\(name)", "-keyout",
      name + ".key", "-out", name + ".csr")
    try await openssl(
      "x509", "-req", "-in", name + ".csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "\(days)",
      "-extfile", name + ".ext", "-out", name + ".pem")
  }

  private func openssl(_ arguments: String...) async throws {
    guard try await runTool("/usr/bin/openssl", arguments, in: folder) == 0 else {
      throw ToolFailed(arguments: arguments)
    }
  }
}

/// `openssl s_server`: what the client says appears on its output, what is written to its input goes to the client.
final class TLSServer: Sendable {
  let port: Int
  private let process: Process
  private let transcript: Transcript

  /// Everything the server printed, the client's bytes among it.
  var log: String { transcript.text }

  struct NotStarted: Error {}

  /// Starts a server that sends `answer` once `trigger` has appeared in what the client sent.
  init(
    _ authority: TestAuthority, certificate: String, options: [String] = [], trigger: String = "grant_type",
    answer: String = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
  ) async throws {
    let process = Process()
    let input = Pipe()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    process.currentDirectoryURL = authority.folder
    process.arguments =
      ["s_server", "-4", "-accept", "127.0.0.1:0", "-cert", certificate + ".pem", "-key", certificate + ".key"]
      + options
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let transcript = Transcript()
    let opened = AsyncStream.makeStream(of: Int.self)
    Thread.detachNewThread {
      let descriptor = output.fileHandleForReading.fileDescriptor
      var buffer = [UInt8](repeating: 0, count: 4_096)
      var answered = false
      while case let length = read(descriptor, &buffer, buffer.count), length > 0 {
        let text = transcript.append(String(decoding: buffer[..<length], as: UTF8.self))
        if let line = text.split(separator: "\n").first(where: { $0.hasPrefix("ACCEPT ") }),
          let port = line.split(separator: ":").last.flatMap({ Int($0) })
        {
          opened.continuation.yield(port)
        }
        if !answered && text.contains(trigger) {
          input.fileHandleForWriting.write(Data(answer.utf8))
          answered = true
        }
      }
      opened.continuation.finish()
    }
    guard let port = await opened.stream.first(where: { _ in true }) else { throw NotStarted() }
    self.port = port
    self.process = process
    self.transcript = transcript
  }

  /// Not `terminate`: the child inherits the signal mask of the thread that started it, and that one may block SIGTERM.
  func stop() { kill(process.processIdentifier, SIGKILL) }
}

private final class Transcript: Sendable {
  private let storage = Mutex("")

  var text: String { storage.withLock { $0 } }

  func append(_ more: String) -> String {
    storage.withLock {
      $0 += more
      return $0
    }
  }
}
