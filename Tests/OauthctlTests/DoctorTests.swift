import AgentWire
import ArgumentParser
import Testing

@testable import oauthctl

@Suite("Doctor")
struct DoctorTests {
  static let variables = [
    "HOME": "/home/u", "USER": "u", "XDG_RUNTIME_DIR": "/run/user/7", "PATH": "/opt/bin:/usr/bin", "DISPLAY": ":0",
  ]

  static func findings(
    _ machine: PretendedMachine = .init(), _ agent: PretendedAgent = .init(), _ more: [String: String] = [:]
  ) -> [Finding] {
    let bench = Workbench.scripted(
      Page(), variables.merging(more) { $1 }, { parameters throws(CommandError) in try agent.answer(parameters) })
    return Examination.findings(Patient(machine: machine.machine, bench: bench), bench.agent)
  }

  /// Those that are not ok, as `level check: fix`.
  static func troubles(_ findings: [Finding]) -> [String] {
    findings.filter { $0.level != .ok }
      .map { "\($0.level.rawValue) \($0.check): \($0.fix?.text ?? "-")" }
  }

  @Test("Where all is well, every finding is ok")
  func well() {
    let findings = Self.findings()
    #expect(Self.troubles(findings) == [])
    #expect(
      findings.map(\.check) == [
        "programs", "clock", "socket", "agent", "units", "linger", "sandbox", "vault", "configuration",
        "certificates", "server", "browser", "git",
      ])
  }

  typealias Case = (String, @Sendable (inout PretendedMachine, inout PretendedAgent) -> Void, [String])

  static let cases: [Case] = [
    (
      "the helper is missing", { machine, _ in machine.files["/opt/bin/oauthd-fetch"] = nil },
      ["wrong programs: install it there: the four programs stay together"]
    ),
    (
      "the other helper is missing", { machine, _ in machine.files["/opt/bin/oauthd-redirect"] = nil },
      ["wrong programs: install it there: the four programs stay together"]
    ),
    ("a clock before this program", { machine, _ in machine.now = 86_400 }, ["wrong clock: timedatectl set-ntp true"]),
    (
      "a clock nobody keeps", { machine, _ in machine.clockIsSynchronized = false },
      ["note clock: timedatectl set-ntp true"]
    ),
    (
      "a runtime folder that others may write to",
      { machine, _ in
        machine.files["/run/user/7"]?.mode = 0o777
      }, ["wrong socket: chmod 700 /run/user/7"]
    ),
    (
      "a file that its owner may not read",
      { machine, _ in machine.files["/home/u/.config/oauthctl/accounts.d/work.toml"]?.mode = 0 },
      ["wrong configuration: chmod u+r /home/u/.config/oauthctl/accounts.d/work.toml"]
    ),
    (
      "an open socket", { machine, _ in machine.files["/run/user/7/oauthctl/agent.sock"]?.mode = 0o666 },
      ["wrong socket: chmod 600 /run/user/7/oauthctl/agent.sock"]
    ),
    (
      "an open folder", { machine, _ in machine.files["/run/user/7/oauthctl"]?.mode = 0o755 },
      ["wrong socket: chmod 700 /run/user/7/oauthctl"]
    ),
    (
      "a socket's folder that is closed", { machine, _ in machine.files["/run/user/7/oauthctl"]?.mode = 0 },
      ["wrong socket: chmod 700 /run/user/7/oauthctl"]
    ),
    (
      "a closed socket", { machine, _ in machine.files["/run/user/7/oauthctl/agent.sock"]?.mode = 0 },
      ["wrong socket: chmod 600 /run/user/7/oauthctl/agent.sock"]
    ),
    (
      "a helper that may not be run", { machine, _ in machine.files["/opt/bin/oauthd-fetch"]?.mode = 0o644 },
      ["wrong programs: chmod 755 /opt/bin/oauthd-fetch"]
    ),
    (
      "a program that everybody may replace", { machine, _ in machine.files["/opt/bin/oauthd"]?.mode = 0o777 },
      ["wrong programs: chmod o-w /opt/bin/oauthd"]
    ),
    (
      "a home that everybody writes to", { machine, _ in machine.files["/home/u"] = (.directory, 7, 0o777, "") },
      ["wrong configuration: chmod o-w /home/u"]
    ),
    (
      "a state folder that others write to, and a log that is refused for it",
      { machine, agent in
        machine.files["/home/u/.local/state/oauthctl"] = (.directory, 7, 0o777, "")
        agent.status.degraded = ["the log cannot be written: /x"]
      }, ["wrong key file: chmod 700 /home/u/.local/state/oauthctl"]
    ),
    (
      "a closed state folder",
      { machine, _ in machine.files["/home/u/.local/state/oauthctl"] = (.directory, 7, 0, "") },
      ["wrong key file: chmod 700 /home/u/.local/state/oauthctl"]
    ),
    (
      "a closed vault, as it will be told after the next start of the agent",
      { machine, _ in machine.files["/home/u/.local/share/oauthctl/vault.db"]?.mode = 0 },
      ["wrong vault: chmod 600 /home/u/.local/share/oauthctl/vault.db"]
    ),
    (
      "a vault that could not be read for its mode is one fault",
      { machine, agent in
        machine.files["/home/u/.local/share/oauthctl/vault.db"]?.mode = 0
        agent.status.vault.state = .failed
      }, ["wrong vault: chmod 600 /home/u/.local/share/oauthctl/vault.db"]
    ),
    (
      "a vault that could not be read, and nobody knows why", { _, agent in agent.status.vault.state = .failed },
      ["wrong vault: oauthctl agent log -n 20"]
    ),
    (
      "a commit counter that others write",
      { machine, _ in machine.files["/home/u/.local/state/oauthctl/vault.commits"] = (.other, 7, 0o666, "") },
      ["wrong vault: chmod 600 /home/u/.local/state/oauthctl/vault.commits"]
    ),
    (
      "a counter that cannot be read, which no rollback is to be accepted for",
      { _, agent in
        agent.status.vault.rolledBack = true
        agent.status.vault.reason = "x"
        agent.status.vault.hint = "put that file right"
      }, ["wrong vault: put that file right"]
    ),
    (
      "a vault in the usual folder, where the agent looks elsewhere",
      { _, agent in
        agent.status.vault.state = .damaged
        agent.status.vault.gone = true
        agent.status.vault.hint = "unset XDG_DATA_HOME && oauthctl agent restart"
      }, ["wrong vault: unset XDG_DATA_HOME && oauthctl agent restart"]
    ),
    (
      "a folder of account files that cannot be read is one fault",
      { machine, agent in
        machine.files["/home/u/.config/oauthctl/accounts.d"]?.mode = 0
        let folder = "/home/u/.config/oauthctl/accounts.d"
        agent.status.problems = [folder, folder + "/work.toml"].map {
          ConfigurationProblem(file: $0, line: nil, key: nil, reason: "cannot be opened")
        }
      }, ["wrong configuration: chmod u+rx /home/u/.config/oauthctl/accounts.d"]
    ),
    (
      "a private authority that git is not told of",
      { machine, agent in
        machine.gitAuthority = ""
        agent.account.hosts = ["https://h"]
        agent.account.certificateAuthorityFile = "/ca.pem"
      }, ["wrong git: oauthctl setup git"]
    ),
    (
      "a login whose file is gone",
      { _, agent in
        agent.account.state = .configInvalid
        agent.account.fileGone = true
        agent.account.hint = "put it back"
      }, ["wrong login: put it back"]
    ),
    (
      "another's socket", { machine, _ in machine.files["/run/user/7/oauthctl/agent.sock"]?.owner = 8 },
      ["wrong socket: have it removed by its owner"]
    ),
    (
      "an old agent", { _, agent in agent.hello.agentVersion = "0.0.1" },
      ["wrong agent: oauthctl agent restart"]
    ),
    (
      "an agent of before the upgrade", { machine, _ in machine.agentChangedAt = 1_001 },
      ["note agent: oauthctl agent restart"]
    ),
    ("a remark of the agent", { _, agent in agent.status.degraded = ["x"] }, ["wrong agent: oauthctl agent log"]),
    (
      "a limit of what started the agent",
      { _, agent in agent.status.degraded = ["it may have no more than 5 seconds of processor time (ulimit -H -t)"] },
      ["wrong agent: in a shell, or by a unit, without that limit: oauthctl agent restart"]
    ),
    (
      "no service beside the socket",
      { machine, _ in machine.files["/home/u/.local/share/systemd/user/oauthd.service"] = nil },
      ["wrong units: install it again, whole"]
    ),
    (
      "a unit that starts nothing",
      { machine, _ in
        machine.files["/home/u/.local/share/systemd/user/oauthd.service"]?.text = "ExecStart=/gone/oauthd"
      }, ["wrong units: install it again, then: systemctl --user daemon-reload"]
    ),
    (
      "units that are not enabled",
      { machine, _ in machine.files["/home/u/.config/systemd/user/sockets.target.wants/oauthd.socket"] = nil },
      ["note units: systemctl --user enable --now oauthd.socket"]
    ),
    (
      "no lingering", { machine, _ in machine.files["/var/lib/systemd/linger/u"] = nil },
      ["note linger: loginctl enable-linger"]
    ),
    (
      "a memory that others read", { machine, _ in machine.files["/proc/44/status"]?.owner = 7 },
      ["wrong sandbox: oauthctl agent restart"]
    ),
    (
      "restrictions without effect", { machine, _ in machine.files["/proc/44/status"]?.text = "Seccomp:\t0\n" },
      ["wrong sandbox: systemctl --user daemon-reload; systemctl --user restart oauthd.service"]
    ),
    (
      "a sandbox without effect", { machine, _ in machine.files["/proc/44/uid_map"]?.text = "0 0 4294967295" },
      ["wrong sandbox: systemctl --user daemon-reload; systemctl --user restart oauthd.service"]
    ),
    (
      "a kernel without Landlock", { machine, _ in machine.landlockVersion = 0 },
      ["note sandbox: use a kernel with Landlock (5.13 or later, with `landlock` among its security modules)"]
    ),
    (
      "no sandbox by choice",
      { machine, _ in
        machine.files["/proc/44/uid_map"]?.text = "0 0 4294967295"
        machine.files["/home/u/.local/share/systemd/user/oauthd.service.d/50-sandbox.conf"] = nil
      }, ["note sandbox: -"]
    ),
    (
      "a locked vault", { _, agent in agent.status.vault.state = .locked }, ["note vault: oauthctl vault unlock"]
    ),
    (
      "a lost key", { _, agent in agent.status.vault.state = .keyMissing },
      ["wrong vault: oauthctl vault unlock --recovery-code"]
    ),
    (
      "a lost key of a vault without a code",
      { _, agent in
        agent.status.vault.state = .keyMissing
        agent.status.vault.slots = ["key_file", "passphrase"]
      }, ["wrong vault: oauthctl vault unlock && oauthctl vault key-file add"]
    ),
    (
      "a lost key of a vault with passphrase and code",
      { _, agent in
        agent.status.vault.state = .keyMissing
        agent.status.vault.slots = ["key_file", "recovery_code", "passphrase"]
      }, ["wrong vault: oauthctl vault unlock && oauthctl vault key-file add"]
    ),
    (
      "a vault that is gone",
      { _, agent in
        agent.status.vault.state = .damaged
        agent.status.vault.gone = true
      },
      [
        "wrong vault: put it back, or a backup of it; to begin anew without what was in it: oauthctl vault create --anew"
      ]
    ),
    (
      "a folder of the wrong mode",
      { _, agent in
        agent.status.vault.state = .failed
        agent.status.vault.hint = "chmod 700 /v"
      }, ["wrong vault: chmod 700 /v"]
    ),
    (
      "a key that is lost while the vault is open",
      { machine, _ in machine.files["/home/u/.local/state/oauthctl/vault.key"] = nil },
      ["wrong key file: oauthctl vault key-file add"]
    ),
    (
      "a locked vault, whose accounts ask no server",
      { _, agent in
        agent.status.vault.state = .locked
        agent.account.state = .locked
        agent.serverFailure = AgentFailure(.vaultLocked, "x")
      }, ["note vault: oauthctl vault unlock"]
    ),
    (
      "a damaged vault", { _, agent in agent.status.vault.state = .damaged },
      ["wrong vault: oauthctl agent stop, then put a backup in place of /home/u/.local/share/oauthctl"]
    ),
    (
      "a key file that does not fit",
      { _, agent in
        agent.status.vault.state = .damaged
        agent.status.vault.reason = "the vault is damaged: slot 1: it does not open with /k"
      }, ["wrong vault: oauthctl vault unlock --recovery-code"]
    ),
    (
      "an old vault",
      { _, agent in
        agent.status.vault.rolledBack = true
        agent.status.vault.reason = "x"
      }, ["wrong vault: oauthctl vault accept-rollback   # if you put a backup back"]
    ),
    (
      "a damaged key file's slot", { _, agent in agent.status.vault.slots = ["key_file (damaged)", "recovery_code"] },
      ["wrong vault: oauthctl vault key-file add"]
    ),
    (
      "a damaged code's slot", { _, agent in agent.status.vault.slots = ["key_file", "recovery_code (damaged)"] },
      ["wrong vault: oauthctl vault recovery renew"]
    ),
    (
      "a damaged passphrase's slot",
      { _, agent in agent.status.vault.slots = ["key_file", "recovery_code", "passphrase (damaged)"] },
      ["wrong vault: oauthctl vault passphrase set"]
    ),
    (
      "no recovery code", { _, agent in agent.status.vault.slots = ["key_file"] },
      ["note vault: oauthctl vault recovery renew"]
    ),
    (
      "a counter that was gone", { _, agent in agent.status.vault.reason = "/c was missing and has been made anew" },
      ["note vault: nothing, if it was you who took that file away"]
    ),
    (
      "a counter that cannot be written", { _, agent in agent.status.vault.reason = "no: read-only" },
      ["wrong vault: make that file one that you alone can write"]
    ),
    (
      "an open key file", { machine, _ in machine.files["/home/u/.local/state/oauthctl/vault.key"]?.mode = 0o644 },
      ["wrong key file: chmod 600 /home/u/.local/state/oauthctl/vault.key"]
    ),
    (
      "an open vault", { machine, _ in machine.files["/home/u/.local/share/oauthctl"]?.mode = 0o750 },
      ["wrong vault: chmod 700 /home/u/.local/share/oauthctl"]
    ),
    ("a full disk", { machine, _ in machine.freeBytes = 1 << 20 }, ["wrong disk: make room there"]),
    (
      "a network home", { machine, _ in machine.isNetworkFileSystem = true },
      ["note disk: set XDG_DATA_HOME to a local folder, for you and the agent"]
    ),
    (
      "a file that others write",
      { machine, _ in machine.files["/home/u/.config/oauthctl/accounts.d/work.toml"]?.mode = 0o666 },
      ["wrong configuration: chmod go-w /home/u/.config/oauthctl/accounts.d/work.toml"]
    ),
    (
      "no authorities", { machine, _ in machine.files["/etc/ssl/certs/ca-certificates.crt"] = nil },
      ["wrong certificates: apt install ca-certificates"]
    ),
    (
      "a server that is away", { _, agent in agent.serverFailure = AgentFailure(.unavailable, "h: no route") },
      ["wrong server: try again later"]
    ),
    (
      "another program in the place of oauthd-fetch",
      { _, agent in agent.serverFailure = AgentFailure(.internal, "work: no oauthd-fetch", hint: "install it") },
      ["wrong programs: install it"]
    ),
    (
      "a host that no account has",
      { machine, _ in machine.gitHelpers += "credential.https://gone.helper\n/opt/bin/git-credential-oauthctl\0" },
      ["note git: oauthctl setup git --remove --host https://gone"]
    ),
    (
      "a missing secret", { _, agent in agent.check.missingSecrets = ["client_secret"] },
      ["wrong secret: oauthctl secret set work client_secret"]
    ),
    ("a password that nobody keeps", { _, agent in agent.check.missingSecrets = ["password"] }, []),
    (
      "a dead login", { _, agent in agent.account.state = .loginRequired }, ["wrong login: oauthctl login work"]
    ),
    (
      "a taken port", { machine, _ in machine.takenPorts = [8914] },
      ["wrong redirect: ss -ltnp 'sport = :8914'"]
    ),
    (
      "no opener", { machine, _ in machine.files["/usr/bin/xdg-open"] = nil },
      [
        "note browser: set BROWSER to a program that opens addresses, or log in with --device"
      ]
    ),
    ("git without us", { machine, _ in machine.gitHelpers = "" }, ["note git: oauthctl setup git"]),
    (
      "a git helper that is gone",
      { machine, _ in machine.gitHelpers = "credential.https://h.helper\n/old/git-credential-oauthctl\0" },
      ["wrong git: oauthctl setup git"]
    ),
    ("no curl", { machine, _ in machine.files["/usr/bin/curl"] = nil }, ["note curl: apt install curl"]),
  ]

  @Test("Everything that can be wrong is found alone, with what to do", arguments: cases.indices)
  func trouble(index: Int) {
    var machine = PretendedMachine()
    var agent = PretendedAgent()
    Self.cases[index].1(&machine, &agent)
    #expect(Self.troubles(Self.findings(machine, agent)) == Self.cases[index].2, "\(Self.cases[index].0)")
  }

  @Test("A socket that was named is not to be mended where it is everybody's folder")
  func named() throws {
    var machine = PretendedMachine()
    machine.files["/tmp"] = (.directory, 0, 0o1777, "")
    let found = try #require(
      Self.findings(machine, .init(), ["OAUTHCTL_SOCKET": "/tmp/x"]).first { $0.check == "socket" })
    #expect(found.fix?.text.hasPrefix("unset OAUTHCTL_SOCKET ") == true)
  }

  @Test("A vault that is locked is told without the word twice")
  func locked() throws {
    var agent = PretendedAgent()
    agent.status.vault.state = .locked
    agent.status.vault.slots = ["passphrase"]
    let found = try #require(Self.findings(.init(), agent).first { $0.check == "vault" })
    #expect(found.message == "locked (sealed)")
  }

  @Test("Without an agent the rest is looked at; a socket that its agent left is nothing wrong, a strange one is")
  func absent() {
    var agent = PretendedAgent()
    agent.absence = .notReachable("the agent cannot be reached at /s: its queue is full", run: nil)
    var machine = PretendedMachine()
    #expect(Self.troubles(Self.findings(machine, agent)) == ["wrong agent: oauthctl status"])
    agent.absence = .notReachable("the agent cannot be reached at /s: nobody listens", run: nil)
    #expect(Self.troubles(Self.findings(machine, agent)) == ["note agent: oauthctl status && oauthctl doctor"])
    machine.files["/run/user/7/oauthctl/agent.sock"] = nil
    #expect(Self.troubles(Self.findings(machine, agent)) == ["note agent: oauthctl status && oauthctl doctor"])
    #expect(
      Self.troubles(Self.findings(machine, agent, ["OAUTHCTL_SOCKET": "/run/user/7/oauthctl/agent.sock"])).count == 2)
  }

  @Test("A missing oauthd-fetch is one fault, whatever the accounts say")
  func missingHelper() {
    var agent = PretendedAgent()
    agent.serverFailure = AgentFailure(.internal, "work: /opt/bin/oauthd-fetch cannot be started", hint: "install it")
    var machine = PretendedMachine()
    machine.files["/opt/bin/oauthd-fetch"] = nil
    #expect(
      Self.troubles(Self.findings(machine, agent)) == [
        "wrong programs: install it there: the four programs stay together"
      ]
    )
  }

  @Test("What a server says is not told with the account's name twice")
  func accountOnce() throws {
    var agent = PretendedAgent()
    agent.serverFailure = AgentFailure(.unavailable, "work: No metadata.")
    let found = try #require(Self.findings(.init(), agent).first { $0.check == "server" })
    #expect(found.message == "No metadata." && found.account == "work")
  }

  @Test("A shell's proxy is told without its password")
  func proxy() throws {
    let found = Self.findings(.init(), .init(), ["HTTPS_PROXY": "http://me:hidden@proxy:3128"])
    let proxy = try #require(found.first { $0.check == "proxy" })
    #expect(proxy.level == .note && proxy.message.contains("http://proxy:3128") && !proxy.message.contains("hidden"))
  }

  @Test("The command ends with 1 only when something is wrong, and escapes what it shows")
  func command() throws {
    for isWrong in [false, true] {
      var agent = PretendedAgent()
      if isWrong { agent.serverFailure = AgentFailure(.unavailable, "bad\u{1B}[31m") }
      for json in [false, true] {
        let page = Page()
        let answers = agent
        let bench = Workbench.scripted(
          page, Self.variables, { parameters throws(CommandError) in try answers.answer(parameters) })
        var command = try #require(try Oauthctl.parseAsRoot(["doctor"]) as? DoctorCommand)
        command.json = json
        do throws(CommandError) {
          try command.run(bench, PretendedMachine().machine)
          #expect(!isWrong)
        } catch {
          #expect(isWrong && error.status == 1)
        }
        #expect(!page.output.contains("\u{1B}") && page.error.isEmpty)
        #expect(
          page.output.contains(json ? "\"healthy\" : \(!isWrong)" : isWrong ? "1 thing is wrong." : "Nothing is wrong.")
        )
        #expect(!isWrong || page.output.contains("work"))
      }
    }
  }

  @Test(
    "The port of a redirect address",
    arguments: [
      ("redirect_uri = \"http://127.0.0.1:8914/cb\"", 8914), ("redirect_uri='http://[::1]:80/'", 80),
      ("redirect_uri = \"http://127.0.0.1/cb\"", nil), ("redirect_uri = \"http://[::1]/\"", nil),
      ("redirect_uri = \"https://h:1/\"", nil), ("# redirect_uri = \"http://127.0.0.1:1/\"", nil), ("", nil),
    ] as [(String, Int?)])
  func redirectPort(line: String, port: Int?) { #expect(AccountCheckup.redirectPort("a = 1\n\(line)\n") == port) }

  @Test(
    "What a unit starts",
    arguments: [
      ("ExecStart=/opt/bin/oauthd", "/opt/bin/oauthd"), ("ExecStart=-@/a/b --x", "/a/b"),
      ("ExecStart=\nExecStart=%h/a%%b", "/home/u/a%b"), ("ExecStartPre=/x", nil),
    ] as [(String, String?)])
  func unitProgram(text: String, program: String?) {
    let bench = Workbench.scripted(Page(), Self.variables) { _ throws(CommandError) in throw .silent(status: 1) }
    #expect(UnitCheck.program(text, Patient(machine: PretendedMachine().machine, bench: bench)) == program)
  }
}
