import AgentCore
import AgentWire
import Glibc
import Testing

@testable import TokenVault

@Suite("Words for errors of the vault")
struct VaultFailureTests {
  @Test("Whoever holds the vault and is not known is nobody to kill")
  func holder() {
    let known = AgentFailure(VaultError.inUse(pid: 4711, socket: "/s"))
    #expect(known.message.contains("pid 4711") && known.hint?.text.hasSuffix("kill 4711") == true)
    let unknown = AgentFailure(VaultError.inUse(pid: 0, socket: nil))
    #expect(unknown.kind == .vaultInUse && unknown.hint?.text.contains("kill") == false)
  }

  @Test("A path in a command is quoted")
  func quoted() {
    #expect(AgentFailure(VaultError.closedToOwner(path: "/my files")).hint == .run("chmod 700 '/my files'"))
    #expect(AgentFailure(VaultError.closedToOwner(path: "/plain")).hint == .run("chmod 700 /plain"))
    #expect(
      AgentFailure(VaultError.openToOthers(path: "/my files", chmod: "go-w")).hint == .run("chmod go-w '/my files'"))
  }

  @Test("An agent that is to be found is used by the line that names its socket's folder")
  func way() {
    func hint(_ socket: String) -> String? { AgentFailure(VaultError.inUse(pid: 7, socket: socket)).hint?.text }
    #expect(hint("/run/user/7/oauthctl/agent.sock")?.hasPrefix("export XDG_RUNTIME_DIR=/run/user/7   # ") == true)
    #expect(hint("/a 'b/oauthctl/agent.sock")?.hasPrefix("export XDG_RUNTIME_DIR='/a '\\''b'   # ") == true)
    #expect(hint("/s/x.sock")?.hasPrefix("export OAUTHCTL_SOCKET=/s/x.sock   # ") == true)
  }

  @Test("A file of root's is told as that, with the command that gives it back")
  func othersOwn() {
    let failure = AgentFailure(VaultError.othersOwn(path: "/v/vault.db", owner: 0, user: 1_000))
    #expect(failure.message == "/v/vault.db belongs to root")
    #expect(failure.hint == .run("sudo chown 1000: /v/vault.db"))
  }

  @Test("A disk without room is told with the folder to make room at, where that is known")
  func noRoom() {
    let failure = AgentFailure(VaultError.noRoom(folder: "/v", "no room"))
    #expect(failure.kind == .storageFailed && failure.hint == "make room at /v")
    #expect(AgentFailure(VaultError.noRoom(folder: nil, "no room")).hint == nil)
    errno = ENOSPC
    #expect(
      VaultError.system("write", "/s/vault.key.next")
        == .noRoom(folder: "/s", "write /s/vault.key.next: No space left on device"))
    errno = EIO
    #expect(VaultError.system("write", "/s/k") == .storageFailed("write /s/k: Input/output error"))
  }

  @Test("What is missing here and there in the usual folder is a matter of the agent's variables")
  func elsewhere() {
    let gone = AgentFailure(VaultError.gone(path: "/x/vault.db", usual: "/h/vault.db"))
    #expect(gone.message.contains("/h/vault.db") && gone.hint == .restart(without: "XDG_DATA_HOME"))
    let key = AgentFailure(VaultError.keyMissing(path: "/x/vault.key", usual: "/h/vault.key"))
    #expect(key.message.contains("/h/vault.key") && key.hint == .restart(without: "XDG_STATE_HOME"))
    #expect(AgentFailure(VaultError.gone(path: "/x/vault.db")).hint?.text.contains("create --anew") == true)
  }

  @Test("A commit counter that cannot be read is put right, and no rollback is to be accepted for it")
  func counter() {
    func hint(_ cause: Rollback.Cause) -> String? {
      AgentFailure(VaultError.rolledBack(Rollback(found: 1, expected: 2, cause: cause))).hint?.text
    }
    #expect(hint(.counterUnreadable("/c could be read"))?.contains("accept-rollback") == false)
    #expect(hint(.counterLost("/c is missing"))?.contains("accept-rollback") == true)
  }

  @Test("A copy that is to be checked may be as large for the client as for the agent")
  func size() { #expect(VaultCheck.maximumFileBytes == CopyChecker.maximumByteCount) }
}
