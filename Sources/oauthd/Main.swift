import AgentRuntime
import ArgumentParser
import AgentWire
import CHeap
import Glibc

/// The agent. Without arguments, as it is nearly always started, nothing is parsed.
@main
struct Main: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "oauthd", abstract: "The OAuth credential agent: owns your logins and hands out access tokens.",
    discussion: "It is started by need, by oauthctl or systemd. It takes no other settings here: see config.toml.",
    version: ProjectVersion.current)

  @Option(help: "What to log: error, warning, info or debug, whatever config.toml says. Never a secret.")
  var logLevel: String?

  func run() async throws { throw ExitCode(await AgentProcess.run(logLevel: logLevel)) }

  static func main() async {
    guard CommandLine.arguments.count > 1 else { Glibc.exit(await AgentProcess.run(logLevel: nil)) }
    await main(nil)
  }
}
