import AgentClient
import AgentWire
import Testing

@testable import oauthctl

@Suite("Failures")
struct FailureTests {
  @Test("Every failure ends with the status of the protocol, and says what to do", arguments: FailureKind.allCases)
  func statuses(kind: FailureKind) {
    let failure = AgentFailure(kind, "why", hint: nil, retryAfterMilliseconds: 2_500, maximumValiditySeconds: 9)
    let error = CommandError.agent(failure, account: "work")
    #expect(error.status == kind.exitStatus)
    #expect(error.sentence == "work: why")
    let needsNoStep: [FailureKind] = [
      .notPermitted, .proofRequired, .badRequest, .unsupportedMethod, .unsupportedParameter,
    ]
    #expect((error.nextStep == nil) == needsNoStep.contains(kind))
  }

  @Test(
    "What the client meets becomes a status",
    arguments: [
      (ClientError.notReachable(path: "/s", reason: "nobody listens", hint: "start it"), Int32(7)),
      (.timeout(milliseconds: 5), 6), (.timeout(milliseconds: 5, hung: 7), 6), (.stopped(process: 7), 6),
      (.protocolViolation("x"), 1),
      (.failure(AgentFailure(.vaultLocked, "x")), 5),
    ])
  func clientErrors(error: ClientError, status: Int32) { #expect(CommandError(error).status == status) }

  @Test("An agent that hangs is named, and ended by its process id with the signal that lets it finish")
  func hanging() {
    let error = CommandError(ClientError.timeout(milliseconds: 5_000, hung: 7))
    #expect(error.sentence == "the agent (pid 7) did not answer within 5000 ms")
    guard case .run(let command) = error.nextStep else {
      Issue.record("no command")
      return
    }
    #expect(command.hasPrefix("kill 7   #"))
    #expect(
      CommandError(ClientError.timeout(milliseconds: 5)).nextStep == .run("oauthctl doctor"), "a slow server, say")
  }

  @Test("A vault that another agent holds is no reason to end that one, where this shell's folder is passed over")
  func passedOver() {
    let failure = AgentFailure(.vaultInUse, "held (pid 5)", hint: .run("export XDG_RUNTIME_DIR=/r   # or: kill 5"))
    #expect(failure.explained(passingOver: nil) == failure)
    let told = failure.explained(passingOver: "/r")
    #expect(told.hint == .run("chmod 700 /r"))
    #expect(told.message == "held (pid 5); XDG_RUNTIME_DIR (/r) may be written by others, so it is passed over")
  }

  @Test("A locked vault that an unlock alone does not open is told with what is wrong, and what helps")
  func lockedWithoutKey() {
    let failure = AgentFailure(.vaultLocked, "the vault is locked", hint: .run("oauthctl vault unlock"))
    var vault = VaultStatusAnswer(state: .locked, slots: ["key_file", "recovery_code"], path: "/v")
    #expect(failure.explained(by: nil) == failure && failure.explained(by: vault) == failure)
    vault = VaultStatusAnswer(
      state: .locked, slots: ["key_file (damaged)"], path: "/v", reason: "the vault's key file /k is damaged",
      hint: .run("oauthctl vault unlock --recovery-code"))
    let told = failure.explained(by: vault)
    #expect(told.message == "the vault is locked; the vault's key file /k is damaged" && told.exitStatus == 5)
    #expect(told.hint == .run("oauthctl vault unlock --recovery-code"))
    let wrong = AgentFailure(.vaultLocked, "that is not the passphrase of this vault", hint: "type it again")
    #expect(wrong.explained(by: vault) == wrong)
  }

  @Test("A logout that the server refuses says so once, in the server's words")
  func refusedLogout() {
    let why = "The server refused to revoke the token: invalid_client (client authentication required)."
    #expect(
      LogoutCommand.sentence(LogoutAnswer(revocation: .refused, reason: why), "work")
        == "Logged out of work here. \(why)")
    #expect(
      LogoutCommand.sentence(LogoutAnswer(revocation: .refused), "work")
        == "Logged out of work here. The server refused to revoke the tokens.")
  }

  @Test("A failure is one line what and why, and one line what to do")
  func lines() {
    let page = Page()
    page.terminal().fail(
      .agent(
        AgentFailure(.loginRequired, "login needed: gitlab.example.com refused the refresh token (invalid_grant)"),
        account: "work"))
    #expect(
      page.error == """
        oauthctl: work: login needed: gitlab.example.com refused the refresh token (invalid_grant)
          run: oauthctl login work

        """)
    #expect(page.output.isEmpty)
  }

  @Test("Nothing from elsewhere moves the cursor, changes direction or adds a line")
  func escaping() {
    let page = Page()
    page.terminal().fail(
      .agent(AgentFailure(.internal, "a\u{1B}[2Jb\nc\u{202E}d\u{200B}e\u{9B}f", hint: "x\r\ny\u{7}"), account: nil))
    #expect(
      page.error == "oauthctl: a\\u{1B}[2Jb c\\u{202E}d\\u{200B}e\\u{9B}f\n  x y\\u{7}\n")
  }

  @Test("A page passes its own colours and no other sequence, whoever escaped its lines", arguments: [true, false])
  func page(usesColor: Bool) {
    let page = Page()
    let terminal = page.terminal(usesColor: usesColor)
    terminal.page(["a\u{1B}[2Jb\nc", "x" + terminal.paint("r\u{202E}", .red) + "y"])
    #expect(
      page.output == "a\\u{1B}[2Jb\\u{A}c\n"
        + (usesColor ? "x\u{1B}[31mr\\u{202E}\u{1B}[0my\n" : "xr\\u{202E}y\n"))
  }

  @Test("curl passes its own status on, and everything of ours is 125 unless it is 126 or 127")
  func childStatuses() {
    #expect(CommandError.agent(AgentFailure(.loginRequired, "x"), account: nil).asChildFailure.status == 125)
    #expect(CommandError.notReachable("x").asChildFailure.status == 125)
    #expect(CommandError.local("x", status: 127).asChildFailure.status == 127)
    #expect(CommandError.silent(status: 22).asChildFailure.status == 22)
  }

  @Test(
    "A next step that is a command is shown as one, and words are not, whatever they begin with",
    arguments: [
      (NextStep.run("oauthctl login a"), "  run: oauthctl login a\n"), ("oauthctl is old", "  oauthctl is old\n"),
    ])
  func steps(step: NextStep, shown: String) {
    let page = Page()
    page.terminal().fail(.local("x", next: step, status: 1))
    #expect(page.error == "oauthctl: x\n" + shown)
  }
}
