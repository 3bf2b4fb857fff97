import AgentWire
import Testing

@testable import oauthctl

@Suite("Doctor: programs, socket, agent, units")
struct DoctorInstallationTests {
  static let cases: [Doctor.Case] = [
    (
      "the helper is missing", { machine, _ in machine.files["/opt/bin/oauthd-fetch"] = nil },
      ["wrong programs: install it there: the four programs stay together"]
    ),
    (
      "the other helper is missing", { machine, _ in machine.files["/opt/bin/oauthd-redirect"] = nil },
      ["wrong programs: install it there: the four programs stay together"]
    ),
    (
      "a service that systemd cannot start",
      { machine, agent in
        agent.absence = .noAnswer("the agent did not answer within 5000 ms")
        machine.unit = """
          ActiveState=activating
          Result=exit-code
          ExecMainStatus=203
          NRestarts=4
          """
      },
      [
        "note agent: -",
        "wrong units: systemctl --user status oauthd.service",
      ]
    ),
    ("a clock before this program", { machine, _ in machine.now = 86_400 }, ["wrong clock: timedatectl set-ntp true"]),
    (
      "a clock nobody keeps, without systemd",
      { machine, _ in
        machine.clockIsSynchronized = false
        machine.files["/run/systemd/system"] = nil
      }, ["note clock: set it right, and have a program such as chrony keep it so"]
    ),
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
      "programs in a folder like /tmp",
      { machine, _ in machine.files["/opt/bin"] = (.directory, 0, 0o1777, "") },
      ["wrong programs: move oauthctl and the programs beside it to a folder where only you may write"]
    ),
    (
      "another's helper", { machine, _ in machine.files["/opt/bin/oauthd-fetch"]?.owner = 8 },
      ["wrong programs: install all four programs anew"]
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
      { _, agent in
        agent.status.degraded = ["x"]
        agent.status.conditions = [AgentCondition(.limit, "x", hint: "without that limit: oauthctl agent restart")]
      }, ["wrong agent: without that limit: oauthctl agent restart"]
    ),
    (
      "a server whose clock differs",
      { _, agent in
        agent.status.degraded = ["x"]
        agent.status.conditions = [AgentCondition(.clock, "x", hint: .run("timedatectl set-ntp true"))]
      }, ["wrong clock: timedatectl set-ntp true"]
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
      "a kernel without Landlock", { machine, _ in machine.landlockVersion = 0 },
      ["note sandbox: use a kernel with Landlock (5.13 or later, with `landlock` among its security modules)"]
    ),
    (
      "another program in the place of oauthd-fetch",
      { _, agent in agent.serverFailure = AgentFailure(.internal, "work: no oauthd-fetch", hint: "install it") },
      ["wrong programs: install it"]
    ),
  ]

  @Test("What can be wrong is found alone, with what to do", arguments: cases.indices)
  func trouble(index: Int) {
    #expect(Doctor.troubles(Self.cases[index]) == Self.cases[index].2, "\(Self.cases[index].0)")
  }

  @Test("A socket that was named is not to be mended where it is everybody's folder")
  func named() throws {
    var machine = PretendedMachine()
    machine.files["/tmp"] = (.directory, 0, 0o1777, "")
    let found = try #require(
      Doctor.findings(machine, .init(), ["OAUTHCTL_SOCKET": "/tmp/x"]).first { $0.check == "socket" })
    #expect(found.fix?.text.hasPrefix("unset OAUTHCTL_SOCKET ") == true)
  }

  @Test("Without an agent the rest is looked at; a socket that its agent left is nothing wrong, a strange one is")
  func absent() {
    var agent = PretendedAgent()
    agent.absence = .notReachable("the agent cannot be reached at /s: its queue is full")
    var machine = PretendedMachine()
    #expect(Doctor.troubles(Doctor.findings(machine, agent)) == ["wrong agent: oauthctl status"])
    agent.absence = .notReachable("the agent cannot be reached at /s: nobody listens", isAbsent: true)
    #expect(Doctor.troubles(Doctor.findings(machine, agent)) == ["note agent: oauthctl status && oauthctl doctor"])
    machine.files["/run/user/7/oauthctl/agent.sock"] = nil
    #expect(Doctor.troubles(Doctor.findings(machine, agent)) == ["note agent: oauthctl status && oauthctl doctor"])
    #expect(
      Doctor.troubles(Doctor.findings(machine, agent, ["OAUTHCTL_SOCKET": "/run/user/7/oauthctl/agent.sock"])).count
        == 2)
  }

  @Test("A missing oauthd-fetch is one fault, whatever the accounts say")
  func missingHelper() {
    var agent = PretendedAgent()
    agent.serverFailure = AgentFailure(.internal, "work: /opt/bin/oauthd-fetch cannot be started", hint: "install it")
    var machine = PretendedMachine()
    machine.files["/opt/bin/oauthd-fetch"] = nil
    #expect(
      Doctor.troubles(Doctor.findings(machine, agent)) == [
        "wrong programs: install it there: the four programs stay together"
      ]
    )
  }

  @Test(
    "What a unit starts",
    arguments: [
      ("ExecStart=/opt/bin/oauthd", "/opt/bin/oauthd"), ("ExecStart=-@/a/b --x", "/a/b"),
      ("ExecStart=\nExecStart=%h/a%%b", "/home/u/a%b"), ("ExecStartPre=/x", nil),
    ] as [(String, String?)])
  func unitProgram(text: String, program: String?) {
    let context = CommandContext.scripted(Page(), Doctor.variables) { _ throws(CommandError) in throw .silent(status: 1)
    }
    #expect(UnitCheck.program(text, DoctorContext(machine: PretendedMachine().machine, command: context)) == program)
  }
}
