import AgentWire
import ArgumentParser
import HelperFormats
import OAuthTerms
import Testing

@testable import oauthctl

@Suite("Command lines")
struct CommandLineTests {
  @Test(
    "What the shortcut understands, ArgumentParser understands the same way",
    arguments: [
      ["oauthctl", "get-token", "work"], ["/usr/bin/oauthctl", "get-token", "a.b_c-1"],
      ["oauthctl", "get-token", "0"], ["oauthctl", "git-credential", "get"], ["oauthctl", "git-credential", "store"],
      ["oauthctl", "git-credential", "erase"], ["oauthctl", "git-credential", "capability"],
      ["oauthctl", "git-credential", "--account", "work", "get"],
      ["git-credential-oauthctl", "--account", "work", "erase"], ["git-credential-oauthctl", "get"],
      ["/opt/x/git-credential-oauthctl", "erase"],
    ])
  func sameMeaning(arguments: [String]) throws {
    let hot = try #require(HotCommand(arguments))
    var words = Array(arguments.dropFirst())
    if arguments[0].hasSuffix("git-credential-oauthctl") { words = ["git-credential"] + words }
    let command = try Oauthctl.parseAsRoot(words)
    switch hot {
    case .getToken(let account):
      let parsed = try #require(command as? GetTokenCommand)
      #expect(try parsed.request() == TokenGet(account: account))
      #expect(parsed.format == nil && !parsed.json)
    case .gitCredential(let operation, let account):
      let parsed = try #require(command as? HelperCommand<GitDialect>)
      #expect(GitDialect.operation(parsed.operation) == operation && parsed.account == account)
    }
  }

  @Test(
    "Each dialect's subcommand, and the program's name that is one, lead to its command", arguments: Dialect.allCases)
  func dialects(dialect: Dialect) throws {
    #expect(dialect.command._commandName == dialect.subcommand)
    #expect(Oauthctl.configuration.subcommands.filter { $0 == dialect.command }.count == 1)
    #expect(Dialect(subcommand: dialect.subcommand) == dialect)
    #expect(dialect.program.map { Dialect(program: $0) == dialect } ?? true)
  }

  @Test(
    "Every other spelling is left to ArgumentParser",
    arguments: [
      [], ["oauthctl"], ["oauthctl", "get-token"], ["oauthctl", "get-token", "--help"],
      ["oauthctl", "get-token", "-h"], ["oauthctl", "get-token", "Work"], ["oauthctl", "get-token", ""],
      ["oauthctl", "get-token", "work", "--force"], ["oauthctl", "get-token", "--", "work"],
      ["oauthctl", "get-token", "work\n"], ["oauthctl", "get-token", "--url=https://x"],
      ["oauthctl", "git-credential", "frobnicate"], ["oauthctl", "git-credential"], ["git-credential-oauthctl"],
      ["git-credential-oauthctl", "get", "x"], ["oauthctl", "git-credential", "--account", "W", "get"],
      ["oauthctl", "git-credential", "--account", "get"], ["git-credential-oauthctl", "frobnicate"],
      ["oauthctl-get-token", "work"], ["oauthctl", "status", "work"],
    ])
  func notHot(arguments: [String]) { #expect(HotCommand(arguments) == nil) }

  @Test(
    "A misspelled command is told with the one that was meant, another command's with its own",
    arguments: [
      (["stauts"], "there is no command oauthctl stauts; did you mean oauthctl status?"),
      (["log"], "there is no command oauthctl log; did you mean oauthctl agent log?"),
      (["agent", "restrat"], "there is no command oauthctl agent restrat; did you mean oauthctl agent restart?"),
      (["tokne"], "there is no command oauthctl tokne; did you mean oauthctl get-token?"),
      (
        ["account", "remove", "x"],
        "there is no command oauthctl account remove; did you mean oauthctl account forget?"
      ),
      (["refresh", "x"], "there is no command oauthctl refresh; did you mean oauthctl get-token --force?"),
      (["frobnicate"], "there is no command oauthctl frobnicate"), (["get-token", "x", "y"], nil),
      (["agent"], nil), (["--frob"], nil), ([], nil), (["help", "x"], nil),
    ] as [([String], String?)])
  func misspelled(words: [String], sentence: String?) {
    #expect(CommandLineEntry.unknownCommand(words)?.sentence == sentence)
  }

  @Test("A time that was too short is not proposed again")
  func withoutTimeout() {
    let words = ["login", "a", "--timeout", "3", "--scope", "x", "--timeout=4", "u"]
    #expect(LoginCommand.without("--timeout", words) == ["login", "a", "--scope", "x", "u"])
  }

  @Test(
    "What is not understood points to the help of the command it was said to",
    arguments: [
      (["agent", "log", "-n", "abc"], "oauthctl agent log --help"), (["agent", "frob"], "oauthctl agent --help"),
      (["loginn", "work", "a b"], "oauthctl login work 'a b'"), (["log", "-n", "5"], "oauthctl agent log -n 5"),
      (["get-token", "--frob"], "oauthctl get-token --help"), (["frob"], "oauthctl --help"),
      (["help", "logn"], "oauthctl help login"), (["logout", "--all"], "oauthctl logout --help"),
      (["logout"], "oauthctl account list   # then name one"),
      (["status", "work"], "oauthctl account show work"),
      (["vault", "recovery", "renew", "--frob"], "oauthctl vault recovery renew --help"),
    ])
  func help(words: [String], step: String) {
    let page = Page()
    do {
      var command = try Oauthctl.parseAsRoot(words)
      // What it shows is thrown.
      if words.first == "help" { try command.run() }
      Issue.record("it was understood")
    } catch {
      #expect(CommandLineEntry.report(error, words, to: page.terminal()) == 64)
    }
    #expect(page.error.hasSuffix("  run: \(step)\n"))
  }

  @Test(
    "What an option cannot be is told with its name and what it can be",
    arguments: [
      (
        ["login", "work", "--prompt", "foo"],
        "--prompt foo: it is none, or one or more of login, consent, select_account"
      ),
      (["login", "work", "--prompt", "none login"], "--prompt 'none login': it is none, or"),
      (["login", "work", "--max-age", "-1"], "--max-age takes 0 to 31536000 seconds, not -1"),
      (["login", "work", "--user", ""], "--user takes 1 to 320 bytes without control characters"),
      (["login", "work", "--login-hint", ""], "--login-hint takes 1 to 320 bytes"),
      (
        ["login", "work", "--device", "--prompt", "login"],
        "--prompt is for a login by browser, and this login is by device_code"
      ),
      (["login", "work", "--timeout", "-1"], "--timeout takes 1 to 86400 seconds, not -1"),
      (
        ["login", "work", "--port", "8400, 8401"],
        "'--port <port>': it takes 1 to 16 ports from 1 to 65535, with commas"
      ),
      (["login", "work", "--port", "0"], "'--port <port>': it takes 1 to 16 ports from 1 to 65535"),
      (["login", "work", "--port", "65536"], "'--port <port>': it takes 1 to 16 ports from 1 to 65535"),
      (["login", "work", "--port", "1,1"], "each port is named once"),
      (["get-token", "work", "--min-validity", "-1"], "--min-validity takes 0 to 86400 seconds, not -1"),
      (["get-token", "--url", "https://h/", "--method", "GE T"], "--method 'GE T': that is no method of HTTP"),
      (["agent", "log", "--lines", "-1"], "--lines is 0 or more"),
      (["get-token", "--url", "foo"], "--url foo: it does not begin with https://"),
      (["login", "--timeout", "foo"], "is invalid for '--timeout <seconds>': it takes a whole number"),
      (["agent", "log", "-n", "foo"], "': it takes a whole number"),
      (["login", "--client-secret", "x"], "unknown option '--client-secret'; did you mean '--client-secret-stdin'?"),
      (["get-token", "--jsn"], "unknown option '--jsn'; did you mean '--json'?"),
      (["get-token", "--tokn"], "unknown option '--tokn'\n"),
    ])
  func options(words: [String], told: String) {
    let page = Page()
    #expect(throws: (any Error).self) {
      do {
        let command = try Oauthctl.parseAsRoot(words)
        _ = try (command as? GetTokenCommand)?.request()
        try (command as? LoginCommand)?.options.check(for: .standard)
      } catch {
        #expect(CommandLineEntry.report(error, words, to: page.terminal()) == 64)
        throw error
      }
    }
    #expect(page.error.contains(told))
  }

  @Test(
    "A path of the home folder begins with ~ wherever a shell reads that",
    arguments: [
      ("/home/u/.config/x:4: bad", "~/.config/x:4: bad"), ("run: chmod go-w /home/u/x", "run: chmod go-w ~/x"),
      ("is there (/home/u/a /home/u/b)", "is there (~/a ~/b)"), ("cp '/home/u/a b' --to=/home/u/c", nil),
      ("/home/user/x /mnt/home/u/x /home/u", nil),
    ] as [(String, String?)])
  func paths(text: String, shown: String?) {
    #expect(Environment(["HOME": "/home/u"]).shortPaths(in: text) == shown ?? text)
    #expect(Environment(["HOME": "/"]).shortPaths(in: text) == text && Environment([:]).shortPaths(in: text) == text)
  }

  private static let fingerprint = "sha256:00112233445566778899aabbccddeeff"

  @Test("The flags of get-token become the parameters of token.get")
  func tokenFlags() throws {
    let words = [
      "get-token", "work", "--url", "https://h/", "--min-validity", "120", "--scope", "a b", "--scope", "c",
      "--timeout",
      "7", "--force", "--best-effort", "--rejected-fingerprint", Self.fingerprint, "--resource", "https://r",
      "--audience",
      "x",
    ]
    let command = try #require(try Oauthctl.parseAsRoot(words) as? GetTokenCommand)
    #expect(
      try command.request()
        == TokenGet(
          account: "work", url: "https://h/", scope: ["a", "b", "c"], resource: ["https://r"], audience: ["x"],
          minValiditySeconds: 120, rejected: RejectedToken(fingerprint: Self.fingerprint), force: true,
          timeoutMilliseconds: 7_000, bestEffort: true))
  }

  @Test(
    "Bounds of get-token are usage errors",
    arguments: [
      ["--min-validity", "-1"], ["--min-validity", "86401"], ["--timeout", "0"], ["--timeout", "601"], ["A"],
      ["--rejected-fingerprint", "sha256:0"],
    ])
  func tokenBounds(words: [String]) {
    let status = Self.status(of: ["get-token"] + words)
    #expect(status == 64)
  }

  @Test(
    "A command line that is not understood is status 64 with what to run, and help is status 0",
    arguments: [
      (["bogus"], 64, "run: oauthctl --help"), (["get-token", "--bogus"], 64, "run: oauthctl get-token --help"),
      (["get-token", "--format", "xml"], 64, "run: oauthctl get-token --help"),
      (["account", "show"], 64, "run: oauthctl account list   # then name one"),
      (["secret", "set", "a", "b"], 64, "run: oauthctl secret"),
      (["--help"], 0, ""), (["help", "login"], 0, ""), (["--version"], 0, ""), (["get-token", "--help"], 0, ""),
    ])
  func usage(words: [String], status: Int32, step: String) throws {
    let page = Page()
    do {
      var command = try Oauthctl.parseAsRoot(words)
      try command.run()
      #expect(status == 0)
    } catch {
      #expect(CommandLineEntry.report(error, words, to: page.terminal()) == status)
      if status == 0 {
        #expect(page.error.isEmpty && !page.output.isEmpty)
      } else {
        #expect(page.output.isEmpty)
        #expect(page.error.hasPrefix("oauthctl: ") && page.error.contains("\n  " + step))
      }
    }
  }

  private static func status(of words: [String]) -> Int32 {
    do {
      guard let command = try Oauthctl.parseAsRoot(words) as? GetTokenCommand else { return -1 }
      _ = try command.request()
      return 0
    } catch {
      return CommandLineEntry.report(error, words, to: Page().terminal())
    }
  }
}
