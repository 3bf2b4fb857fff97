import CHeap
import CLinux
import FetchWire
import Glibc
import NIOPosix

/// The browser's side of one login: its HTTP is parsed here, where no key lives. Descriptor 0 is the conversation with the
/// agent (``RedirectReport``, ``RedirectOrder``), descriptor 1 a socket that listens on loopback; nothing else goes in or
/// out: no argument, no environment, no file.
@main
enum Main {
  static func main() {
    signal(SIGPIPE, SIG_IGN)
    // oauthd gives no argument.
    guard CommandLine.argc <= 1, isSocket(0), isSocket(1) else {
      let isAsked = CommandLine.arguments.contains { ["--help", "-h", "--version"].contains($0) }
      let text = "oauthd-redirect is started by oauthd, whose version it has; it is of no use by itself.\n"
      _ = write(isAsked ? 1 : 2, text, text.utf8.count)
      exit(isAsked ? 0 : 64)
    }
    guard clinux_make_undumpable() == 0 else { end("oauthd-redirect could not make itself undumpable") }
    // Whoever started this process is the only one to whom a request means anything.
    _ = clinux_die_with_parent(SIGKILL)
    _ = clinux_close_from(3)
    guard clinux_confine_to_answers() >= 0 else {
      end("oauthd-redirect could not restrict itself: \(String(cString: strerror(errno)))")
    }
    // The one thread of this process: no other could be started any more.
    MultiThreadedEventLoopGroup.withCurrentThreadAsEventLoop { BrowserListener.begin(on: $0) }
    _exit(0)
  }

  /// Tells the agent why this process ends, and ends it.
  static func end(_ reason: String) -> Never { end(.failed(reason)) }

  static func end(_ report: RedirectReport) -> Never {
    if let frame = try? report.encoded() { _ = write(0, frame, frame.count) }
    _exit(1)
  }

  private static func isSocket(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
  }
}
