import DevAuthorizationServer
import Glibc
import HTTPTypes
import HummingbirdCore
import NIOCore
import Subprocess

/// `git http-backend` as CGI (RFC 3875) over the repositories of one folder. Bodies stream both ways.
struct GitBackend: Sendable {
  private struct NoAnswer: Error {}

  /// Absolute path of the folder.
  let root: String

  func serve(
    _ git: GitRequest, _ request: Request, subject: String, _ writer: consuming ResponseWriter
  ) async throws {
    // The closure below runs once; the box lets it take the writer over.
    var box: ResponseWriter? = consume writer
    _ = try await run(
      .name("git"), arguments: ["http-backend"],
      environment: .custom(variables(git, request, subject: subject)), input: .inputWriter, output: .sequence,
      error: .currentStandardError
    ) { execution in
      let input = execution.standardInputWriter
      let body = request.body
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          // git may stop reading early and still answer.
          do {
            for try await part in body { _ = try await input.write(Array(part.readableBytesView)) }
          } catch {}
          try? await input.finish()
        }
        guard let writer = box.take() else { throw NoAnswer() }
        try await copy(execution.standardOutput, to: writer)
        group.cancelAll()
      }
    }
  }

  private func copy(_ output: SubprocessOutputSequence, to writer: consuming ResponseWriter) async throws {
    var parts = output.makeAsyncIterator()
    var head: [UInt8] = []
    while let part = try await parts.next() {
      part.withUnsafeBytes { head += $0 }
      switch CGIHead.read(head) {
      case .incomplete: continue
      case .malformed: throw NoAnswer()
      case .complete(let answer):
        var body = try await writer.writeHead(
          HTTPResponse(status: .init(code: answer.status), headerFields: HTTPFields(answer.headers)))
        try await body.write(ByteBuffer(bytes: head[answer.bodyOffset...]))
        while let part = try await parts.next() {
          try await body.write(part.withUnsafeBytes { ByteBuffer(bytes: $0) })
        }
        try await body.finish(nil)
        return
      }
    }
    throw NoAnswer()
  }

  /// Nothing of our own environment but PATH. No configuration but what is said here: repositories may belong to
  /// another user than the server's.
  private func variables(_ git: GitRequest, _ request: Request, subject: String) -> [Environment.Key: String] {
    var variables: [Environment.Key: String] = [
      "GATEWAY_INTERFACE": "CGI/1.1", "SERVER_PROTOCOL": "HTTP/1.1", "REMOTE_ADDR": "127.0.0.1",
      "REMOTE_USER": subject, "REQUEST_METHOD": request.head.method.rawValue, "PATH_INFO": git.pathInfo,
      "QUERY_STRING": git.query, "GIT_PROJECT_ROOT": root, "GIT_HTTP_EXPORT_ALL": "1", "GIT_CONFIG_NOSYSTEM": "1",
      "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
      "GIT_COMMITTER_NAME": subject, "GIT_COMMITTER_EMAIL": "\(subject)@localhost",
      "PATH": getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin",
    ]
    variables["CONTENT_TYPE"] = request.headers[.contentType]
    variables["CONTENT_LENGTH"] = request.headers[.contentLength]
    variables["HTTP_CONTENT_ENCODING"] = request.headers[.contentEncoding]
    if let name = HTTPField.Name("Git-Protocol") { variables["GIT_PROTOCOL"] = request.headers[name] }
    return variables
  }
}
