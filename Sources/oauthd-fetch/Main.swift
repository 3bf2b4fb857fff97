import CHeap
import CLinux
import FetchWire
import Glibc

/// One HTTP request, then the end. The request comes on descriptor 0, the report goes to descriptor 1
/// (``FetchWire``); nothing else goes in or out: no argument, no environment, no file but the system's certificates.
@main
enum Main {
  static func main() {
    // A server that hangs up must be an error of the write, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    // oauthd gives no argument and a pipe.
    guard CommandLine.argc <= 1, isatty(0) == 0 else {
      let isAsked = CommandLine.arguments.contains { ["--help", "-h", "--version"].contains($0) }
      let text = "oauthd-fetch is started by oauthd, whose version it has; it is of no use by itself.\n"
      _ = write(isAsked ? 1 : 2, text, text.utf8.count)
      exit(isAsked ? 0 : 64)
    }
    guard clinux_make_undumpable() == 0 else {
      Report.failure(FetchFailure(.helper, "oauthd-fetch could not make itself undumpable"))
      exit(1)
    }
    // Whoever started this process is the only one to whom the answer means anything.
    _ = clinux_die_with_parent(SIGKILL)
    _ = clinux_close_from(3)
    exchange()
  }

  private static func exchange() -> Never {
    guard let input = FetchBuffer(capacity: FetchLimits.requestStreamBytes) else {
      end(FetchFailure(.helper, "oauthd-fetch got no memory"))
    }
    do {
      let parts = try readRequest(into: input)
      try Confinement.enter(for: parts.request)
      let transfer = try Transfer(parts, in: input)
      transfer.perform()
      input.wipe()
      transfer.report()
      transfer.wipe()
      // Not `exit`: a name server that never answers may still hold a resolver thread.
      _exit(0)
    } catch {
      input.wipe()
      end(error)
    }
  }

  private static func end(_ failure: FetchFailure) -> Never {
    Report.failure(failure)
    _exit(1)
  }

  private static func readRequest(into input: FetchBuffer) throws(FetchFailure) -> FetchRequestReader.Parts {
    var reader = FetchRequestReader()
    while true {
      guard let length = input.fill(from: 0) else {
        if errno == EINTR { continue }
        throw FetchFailure(.helper, "oauthd-fetch could not read the request")
      }
      // The agent went away before the request was complete: there is nobody to tell.
      guard length > 0 else { _exit(1) }
      do {
        if let parts = try input.withBytes({ (bytes) throws(FetchWireError) in try reader.read(bytes) }) {
          return parts
        }
      } catch {
        throw FetchFailure(.helper, Self.explanation(error))
      }
    }
  }

  private static func explanation(_ error: FetchWireError) -> String {
    switch error {
    case .versionMismatch: "oauthd and oauthd-fetch are of different versions; restart oauthd"
    case .invalid(let what): "the request was refused: \(what)"
    case .frameTooLarge: "the request was refused: too large"
    case .unexpectedFrame: "the request was refused: not a request"
    }
  }
}
