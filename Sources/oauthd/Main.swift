import AgentRuntime
import CHeap
import Glibc

@main
enum Main {
  static func main() async {
    switch AgentArguments(Array(CommandLine.arguments.dropFirst())) {
    case .serve(let logLevel): exit(await AgentProcess(logLevel: logLevel).run())
    case .show(let text): print(text)
    case .wrong(let reason):
      let line = "oauthd: \(reason). See oauthd --help.\n"
      _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
      exit(AgentArguments.wrongStatus)
    }
  }
}
