import AgentWire
import ArgumentParser

struct VaultCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "vault", abstract: "Shows and unlocks the vault.", subcommands: [Status.self, Unlock.self])

  struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Shows whether the vault is open, and where it is.", discussion: "Example: oauthctl vault status")
    @Flag(help: "Prints JSON.") var json = false

    func run() throws { try run(.live()) }

    func run(_ bench: Workbench) throws(CommandError) {
      let answer = try bench.agent.ask(VaultStatusRequest())
      if json {
        bench.terminal.data(JSONText.pretty(answer))
      } else {
        bench.terminal.data(StatusPage.vaultText(answer))
        bench.terminal.data("path   " + PrintableText.escaped(bench.surroundings.abbreviated(answer.path)))
        if !answer.slots.isEmpty {
          bench.terminal.data("opens with  " + answer.slots.map { PrintableText.escaped($0) }.joined(separator: ", "))
        }
      }
      if let reason = answer.reason {
        let step = [.locked, .keyMissing].contains(answer.state) ? "oauthctl vault unlock" : nil
        bench.terminal.warn(reason, run: step)
      }
    }
  }

  struct Unlock: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Opens the vault with the recovery code, typed or from standard input.",
      discussion: "Example: oauthctl vault unlock")

    func run() throws { try run(.live()) }

    func run(_ bench: Workbench) throws(CommandError) {
      let code =
        bench.terminal.inputIsTerminal
        ? try bench.terminal.askSecret("Recovery code: ", otherwise: "oauthctl vault unlock < FILE")
        : try Terminal.secretFromInput("recovery code")
      // The key is stretched on purpose: this takes its time.
      let answer = try bench.agent.call(VaultUnlock(recoveryCode: code.trimmed), timeoutMilliseconds: 120_000)
      bench.terminal.say("Now: \(StatusPage.vaultText(answer)).")
    }
  }
}
