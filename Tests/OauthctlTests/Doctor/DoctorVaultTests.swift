import AgentWire
import Testing

@testable import oauthctl

@Suite("Doctor: vault, keys, disk")
struct DoctorVaultTests {
  static let cases: [Doctor.Case] = [
    (
      "a state folder that others write to, and a log that is refused for it",
      { machine, agent in
        machine.files["/home/u/.local/state/oauthctl"] = (.directory, 7, 0o777, "")
        agent.status.degraded = ["x"]
        agent.status.conditions = [AgentCondition(.log, "x", hint: "make room")]
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
      "a vault of root's is one fault",
      { machine, agent in
        machine.files["/home/u/.local/share/oauthctl/vault.db"]?.owner = 0
        agent.status.vault.state = .failed
      }, ["wrong vault: sudo chown 7: /home/u/.local/share/oauthctl/vault.db"]
    ),
    (
      "a vault that could not be read, and nobody knows why", { _, agent in agent.status.vault.state = .failed },
      ["wrong vault: oauthctl agent log -n 20"]
    ),
    (
      "a vault whose disk says what it is",
      { _, agent in
        agent.status.vault.state = .failed
        agent.status.vault.reason = "Read-only file system"
      }, ["wrong vault: put that right; the agent tries again by itself"]
    ),
    (
      "a vault on a full disk is one fault",
      { machine, agent in
        machine.freeBytes = 0
        agent.status.vault.state = .failed
        agent.status.vault.reason = "disk is full"
      }, ["wrong vault: make room at ~/.local/share/oauthctl"]
    ),
    (
      "a vault that names the full disk itself is one fault",
      { machine, agent in
        machine.freeBytes = 0
        agent.status.vault.state = .locked
        agent.status.vault.reason = "no room"
        agent.status.vault.hint = "make room at /home/u/.local/share/oauthctl; then: oauthctl vault unlock"
      }, ["wrong vault: make room at /home/u/.local/share/oauthctl; then: oauthctl vault unlock"]
    ),
    (
      "a commit counter that others write",
      { machine, _ in machine.files["/home/u/.local/state/oauthctl/vault.commits"] = (.other, 7, 0o666, "") },
      ["wrong vault: chmod 600 /home/u/.local/state/oauthctl/vault.commits"]
    ),
    (
      "a commit counter that others write is one fault, though the agent refuses it",
      { machine, agent in
        machine.files["/home/u/.local/state/oauthctl/vault.commits"] = (.other, 7, 0o666, "")
        agent.status.vault.rolledBack = true
        agent.status.vault.reason = "x"
        agent.status.vault.hint = "put that file right: it is read again by itself"
      }, ["wrong vault: chmod 600 /home/u/.local/state/oauthctl/vault.commits"]
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
      "a locked vault", { _, agent in agent.status.vault.state = .locked }, ["note vault: oauthctl vault unlock"]
    ),
    (
      "a lost key", { _, agent in agent.status.vault.state = .keyMissing },
      ["wrong vault: oauthctl vault unlock"]
    ),
    (
      "a locked vault whose key file is damaged",
      { _, agent in
        agent.status.vault.state = .locked
        agent.status.vault.slots = ["key_file (damaged)", "recovery_code"]
        agent.status.vault.reason = "x"
        agent.status.vault.hint = "oauthctl vault unlock --recovery-code"
        agent.status.vault.hintKind = "command"
      }, ["wrong vault: oauthctl vault unlock --recovery-code"]
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
      { _, agent in agent.status.vault.slots = ["key_file (missing)", "recovery_code"] },
      ["wrong vault: oauthctl vault key-file add"]
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
      "a damaged vault, with the step that the agent names",
      { _, agent in
        agent.status.vault.state = .damaged
        agent.status.vault.hint = "put a backup over vault.db"
      }, ["wrong vault: put a backup over vault.db"]
    ),
    (
      "a key file that does not fit",
      { _, agent in
        agent.status.vault.state = .damaged
        agent.status.vault.reason = "x"
        agent.status.vault.otherSlotOpens = true
        agent.status.vault.hint = "oauthctl vault unlock --recovery-code"
        agent.status.vault.hintKind = "command"
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
      "a counter that was gone",
      { _, agent in
        agent.status.vault.reason = "/c was missing"
        agent.status.vault.counterMadeAnew = true
        agent.status.vault.hint = "nothing, if it was you"
      }, ["note vault: nothing, if it was you"]
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
    (
      "a file system of the vault that is mounted read-only",
      { machine, _ in machine.readOnlyFolders = ["/home/u/.local/share/oauthctl"] },
      [
        "wrong disk: make that file system writable again; findmnt -T /home/u/.local/share/oauthctl shows which it is"
      ]
    ),
    (
      "a file system of the key file that is mounted read-only",
      { machine, _ in
        machine.readOnlyFolders = ["/home/u/.local/state/oauthctl"]
        machine.files["/home/u/.local/state/oauthctl"] = (.directory, 7, 0o700, "")
      },
      [
        "wrong disk: make that file system writable again; findmnt -T /home/u/.local/state/oauthctl shows which it is"
      ]
    ),
    (
      "a full disk", { machine, _ in machine.freeBytes = 1 << 20 }, ["wrong disk: make room at ~/.local/share/oauthctl"]
    ),
    (
      "a full disk of the state folder alone",
      { machine, _ in
        machine.freeBytesIn["/home/u/.local/state/oauthctl"] = 1 << 20
        machine.files["/home/u/.local/state/oauthctl"] = (.directory, 7, 0o700, "")
      },
      ["wrong disk: make room at ~/.local/state/oauthctl"]
    ),
    (
      "a full disk beside a key file that others read",
      { machine, _ in
        machine.freeBytes = 1 << 20
        machine.files["/home/u/.local/state/oauthctl/vault.key"]?.mode = 0o644
      },
      [
        "wrong disk: make room at ~/.local/share/oauthctl",
        "wrong key file: chmod 600 /home/u/.local/state/oauthctl/vault.key",
      ]
    ),
    (
      "a network home", { machine, _ in machine.isNetworkFileSystem = true },
      ["note disk: set XDG_DATA_HOME to a local folder, for you and the agent"]
    ),
  ]

  @Test("What can be wrong is found alone, with what to do", arguments: cases.indices)
  func trouble(index: Int) {
    #expect(Doctor.troubles(Self.cases[index]) == Self.cases[index].2, "\(Self.cases[index].0)")
  }

  @Test("A vault that is locked is told without the word twice")
  func locked() throws {
    var agent = PretendedAgent()
    agent.status.vault.state = .locked
    agent.status.vault.slots = ["passphrase"]
    let found = try #require(Doctor.findings(.init(), agent).first { $0.check == "vault" })
    #expect(found.message == "locked (sealed)")
  }
}
