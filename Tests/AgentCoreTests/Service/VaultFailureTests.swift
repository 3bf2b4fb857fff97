import AgentCore
import AgentWire
import Testing

@testable import TokenVault

@Suite("Words for errors of the vault")
struct VaultFailureTests {
  @Test("Whoever holds the vault and is not known is nobody to kill")
  func holder() {
    let known = AgentFailure(VaultError.inUse(pid: 4711, socket: "/s"))
    #expect(known.message.contains("pid 4711") && known.hint?.hasSuffix("kill 4711") == true)
    let unknown = AgentFailure(VaultError.inUse(pid: 0, socket: nil))
    #expect(unknown.kind == .vaultInUse && unknown.hint?.contains("kill") == false)
  }

  @Test("A path in a command is quoted")
  func quoted() {
    #expect(AgentFailure(VaultError.closedToOwner(path: "/my files")).hint == "chmod 700 '/my files'")
    #expect(AgentFailure(VaultError.closedToOwner(path: "/plain")).hint == "chmod 700 /plain")
  }

  @Test("A copy that is to be checked may be as large for the client as for the agent")
  func size() { #expect(VaultCheck.maximumFileBytes == CopyChecker.maximumByteCount) }
}
