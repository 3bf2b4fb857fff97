import AgentWire
import Testing

@testable import oauthctl

@Suite("Who holds the vault")
struct VaultHolderTests {
  static let lock = "/home/u/.local/share/oauthctl/vault.lock"
  static let there = "/run/other/agent.sock"
  static let here = "/run/user/7/oauthctl/agent.sock"

  static func machine(pid: Int, name: String? = "oauthd", socket: String = there) -> PretendedMachine {
    var machine = PretendedMachine()
    machine.files[lock] = (.other, 7, 0o600, "boot-id b\npid \(pid)\nsocket \(socket)\n")
    machine.lockedFiles = [lock]
    if let name { machine.files["/proc/\(pid)/comm"] = (.other, 0, 0o444, "\(name)\n") }
    return machine
  }

  static func agent(_ change: (inout PretendedAgent) -> Void) -> PretendedAgent {
    var agent = PretendedAgent()
    change(&agent)
    return agent
  }

  static let absent = agent { $0.absence = .notReachable("nobody listens") }
  static let waiting = agent {
    $0.status.vault.state = .inUse
    $0.status.vault.reason = "the vault is held by another agent (pid 55, socket \(there))"
  }

  static func vault(_ machine: PretendedMachine, _ agent: PretendedAgent) throws -> Finding {
    try #require(Doctor.findings(machine, agent).first { $0.check == "vault" })
  }

  @Test("It is named with its process and what ends it, whether an agent waits for it or none runs")
  func named() throws {
    for agent in [Self.absent, Self.waiting] {
      let found = try Self.vault(Self.machine(pid: 55), agent)
      #expect(found.level == .wrong && found.fix == .run("kill 55 && oauthctl status"))
      #expect(found.message.contains("another agent (pid 55, socket \(Self.there))"))
    }
  }

  @Test("One whose socket is to be seen is not to be killed: this shell is to use it")
  func seen() throws {
    for agent in [Self.absent, Self.waiting] {
      var machine = Self.machine(pid: 55, socket: "/run/other/oauthctl/agent.sock")
      machine.files["/run/other/oauthctl/agent.sock"] = (.socket, 7, 0o600, "")
      let found = try Self.vault(machine, agent)
      #expect(found.fix == .run("export XDG_RUNTIME_DIR=/run/other   # or, to end that agent: kill 55"))
    }
  }

  @Test("One that this shell would ask if its runtime folder were not open to others is told by that folder alone")
  func openFolder() {
    for agent in [Self.absent, Self.waiting] {
      var machine = Self.machine(pid: 55, socket: Self.here)
      machine.files["/run/user/7"]?.mode = 0o777
      let wrong = Doctor.findings(machine, agent).filter { $0.level == .wrong }
      #expect(wrong.map(\.check) == ["socket"] && wrong.first?.fix == .run("chmod 700 /run/user/7"))
    }
  }

  @Test("No process that is not an agent is to be killed", arguments: [nil, "vim"])
  func unseen(name: String?) throws {
    for agent in [Self.absent, Self.waiting] {
      let found = try Self.vault(Self.machine(pid: 55, name: name), agent)
      #expect(found.level == .wrong && found.fix?.text.hasPrefix("end the other agent where it runs") == true)
    }
  }

  @Test("The agent that has the vault itself waits for another program")
  func own() throws {
    let found = try Self.vault(Self.machine(pid: 44, socket: Self.here), Self.waiting)
    #expect(found.fix == .run("fuser -v /home/u/.local/share/oauthctl/vault.db"))
  }

  @Test("An agent of this shell that does not answer is ended by its process id, and no other is")
  func hanging() throws {
    let silent = Self.agent { $0.absence = .noAnswer("late") }
    func fix(_ machine: PretendedMachine) -> NextStep? {
      Doctor.findings(machine, silent).first { $0.check == "agent" }?.fix
    }
    #expect(fix(Self.machine(pid: 55, socket: Self.here))?.text.hasPrefix("kill 55   #") == true)
    #expect(fix(Self.machine(pid: 55)) == .run("oauthctl agent log -n 20"), "the vault's agent is another shell's")
    #expect(fix(PretendedMachine()) == .run("oauthctl agent log -n 20"))
  }

  @Test("An agent of this shell that does not answer is told once, and a lock that nobody holds not at all")
  func once() throws {
    #expect(try Self.vault(Self.machine(pid: 55, socket: Self.here), Self.absent).level == .ok)
    var machine = Self.machine(pid: 55)
    machine.lockedFiles = []
    #expect(try Self.vault(machine, Self.absent).level == .ok)
  }
}
