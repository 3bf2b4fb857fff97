import AgentClient
import CHeap
import CLinux
import CStart
import Glibc
import HelperFormats

@main
enum Main {
  static func main() {
    // Before anything secret is read or answered: no core of this process or of what it starts, and no look into its
    // memory by another process of the user.
    clinux_forbid_cores()
    // A reader that went away, and a file that may grow no more, show as a failed write, not as a death without a word.
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
    // Who started us may ignore its children's ends; we wait for ours.
    signal(SIGCHLD, SIG_DFL)
    ClientTrace.warn = { Terminal.helper().warn($0, next: $1) }
    let arguments = CommandLine.arguments
    do throws(CommandError) {
      switch HotCommand(arguments) {
      case .getToken(let account): Terminal.writeData(try LiveAgent().tokenLine(of: account))
      case .gitCredential(let operation, let account):
        try HelperRun.git(.helper(), account: account).run(GitDialect.self, operation)
      case nil:
        try CommandLineEntry.checkArguments()
        let status = CommandLineEntry.run(arguments)
        if status != 0 { exit(status) }
      }
      try Terminal.checkOutput()
    } catch {
      Terminal.live().fail(error)
      exit(error.status)
    }
  }
}
