import AgentWire
import Glibc
import Testing

@testable import oauthctl

@Suite("Where the agent has its files, and where this shell would")
struct AgentFoldersTests {
  private static func folders(_ shell: [String: String], _ agents: [String: String]?) -> AgentFolders {
    var status = AgentCommandTests.status()
    status.folders = agents
    return AgentFolders(Environment(["HOME": "/h"].merging(shell) { $1 }), status)
  }

  private static let usual = [
    "configuration": "/h/.config/oauthctl", "data": "/h/.local/share/oauthctl", "state": "/h/.local/state/oauthctl",
  ]

  @Test("The same folders, and an agent that does not tell, are no word")
  func same() {
    for folders in [Self.folders([:], Self.usual), Self.folders(["XDG_DATA_HOME": "/x"], nil)] {
      #expect(folders.remark == nil && folders.remedy == nil && folders.obstacle() == nil)
    }
    #expect(Self.folders(["XDG_CONFIG_HOME": "relative"], Self.usual).remark == nil)
  }

  @Test("Every folder that differs is told, and one line takes them all over")
  func different() {
    let folders = Self.folders(["XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s"], Self.usual)
    #expect(
      folders.remark == "the agent's configuration folder is ~/.config/oauthctl, this shell's /c/oauthctl; "
        + "its state folder is ~/.local/state/oauthctl, this shell's /s/oauthctl")
    #expect(folders.remedy?.text == "unset XDG_CONFIG_HOME XDG_STATE_HOME")
    let moved = Self.folders(["XDG_DATA_HOME": "/d"], Self.usual.merging(["configuration": "/a b/oauthctl"]) { $1 })
    #expect(moved.remedy?.text == "unset XDG_DATA_HOME && export XDG_CONFIG_HOME='/a b'")
  }

  @Test("An account that is not known is told with both folders, and nothing is added where they are the same")
  func unknown() {
    let failure = AgentFailure(.accountUnknown, "work: no such account", hint: "accounts: a")
    #expect(Self.folders([:], Self.usual).explained(failure, about: "work") == failure)
    let told = Self.folders(["XDG_DATA_HOME": "/d"], Self.usual).explained(failure, about: "work")
    #expect(
      told.message.hasPrefix("work: no such account; the agent's data folder is ") && told.kind == .accountUnknown)
    #expect(told.hint == .run("unset XDG_DATA_HOME"))
    // The login may be right there: nothing but the place is added.
    let login = AgentFailure(.loginRequired, "work: login needed", hint: .run("oauthctl login work"))
    let missing = Self.folders(["XDG_DATA_HOME": "/d"], Self.usual).explained(login, about: "work")
    #expect(missing.message.hasPrefix("work: login needed; the agent's data folder is ") && missing.hint == login.hint)
  }

  @Test("A shell without variables of its own moves the agent, unless another than a shell has started it")
  func agentElsewhere() {
    func folders(_ shell: [String: String], started: String) -> AgentFolders {
      var status = AgentCommandTests.status()
      status.folders = Self.usual.merging(["configuration": "/c/oauthctl"]) { $1 }
      status.started = started
      return AgentFolders(Environment(["HOME": "/h"].merging(shell) { $1 }), status)
    }
    let usual = folders([:], started: "on_demand")
    #expect(
      usual.remedy == .run("oauthctl agent restart   # or, for this shell: export XDG_CONFIG_HOME=/c"))
    #expect(usual.obstacle()?.nextStep == usual.remedy)
    for other in [
      folders([:], started: "systemd"), folders(["OAUTHCTL_SOCKET": "/s"], started: "on_demand"),
      folders(["XDG_DATA_HOME": "/h/.local/share"], started: "on_demand"),
    ] {
      #expect(other.remedy == .run("export XDG_CONFIG_HOME=/c"))
    }
  }

  @Test(
    "Where one of the two configuration folders alone has account files, the step leads there, whoever has variables")
  func whereTheAccountsAre() throws {
    var template = Array("/tmp/agent-folders.XXXXXX".utf8CString)
    let root = try #require(mkdtemp(&template).map { String(cString: $0) })
    let file = "\(root)/oauthctl/accounts.d/work.toml"
    defer { for path in [file, "\(root)/oauthctl/accounts.d", "\(root)/oauthctl", root] { remove(path) } }
    for folder in ["\(root)/oauthctl", "\(root)/oauthctl/accounts.d"] { try #require(mkdir(folder, 0o700) == 0) }
    close(open(file, O_CREAT | O_WRONLY, 0o600))
    let moved = Self.usual.merging(["configuration": "\(root)/oauthctl"]) { $1 }
    #expect(Self.folders([:], moved).remedy == .run("export XDG_CONFIG_HOME=\(root)"))
    #expect(Self.folders(["XDG_CONFIG_HOME": root], Self.usual).remedy == .run("oauthctl agent restart"))
    let gone = AgentFailure(.configInvalid, "work: its file is gone", hint: "bring it back")
    let told = Self.folders(["XDG_CONFIG_HOME": root], Self.usual).explained(gone, about: "work")
    #expect(told.hint == .run("oauthctl agent restart"))
    // systemd would start it with the folder of before.
    var status = AgentCommandTests.status()
    (status.folders, status.started) = (Self.usual, "systemd")
    func served(_ variables: [String: String]) -> AgentFolders {
      AgentFolders(Environment(["HOME": "/h"].merging(variables) { $1 }), status)
    }
    let step = NextStep.run(
      "mkdir -p /h/.config && mv -T \(root)/oauthctl /h/.config/oauthctl && unset XDG_CONFIG_HOME && "
        + "oauthctl agent restart   # to keep it there, see configuration.md")
    let shell = served(["XDG_CONFIG_HOME": root])
    #expect(shell.remedy == step && shell.misplaced("work")?.nextStep == step)
    #expect(shell.explained(gone, about: "work").hint == step)
    var account = PretendedAgent().account
    #expect(shell.explained([account]) == [account])
    account.fileGone = true
    #expect(shell.explained([account]).map(\.nextStep) == [step])
    #expect(served(["XDG_DATA_HOME": root]).remedy == .run("unset XDG_DATA_HOME"), "no vault is there")
    let vault = "\(root)/oauthctl/vault.db"
    close(open(vault, O_CREAT | O_WRONLY, 0o600))
    defer { remove(vault) }
    #expect(
      served(["XDG_DATA_HOME": root]).remedy?.text.hasPrefix(
        "mkdir -p /h/.local/share && mv -T \(root)/oauthctl /h/.local/share/oauthctl && unset XDG_DATA_HOME && ")
        == true)
    // Without systemd a restart brings the agent to the files, and a vault that is here is no lost one.
    let here = Self.folders(["XDG_DATA_HOME": root], Self.usual)
    #expect(here.remedy == .run("oauthctl agent restart"))
    let lost = AgentFailure(.vaultDamaged, "vault.db is gone", hint: "put it back")
    let words = here.explained(lost, about: "work")
    #expect(words.hint == NextStep.run("oauthctl agent restart"))
    // What systemd has of its own only a person can change.
    status.folders?["data"] = "/elsewhere/oauthctl"
    #expect(served(["XDG_DATA_HOME": root]).remedy?.text.hasPrefix("change XDG_DATA_HOME where systemd ") == true)
  }

  @Test("A restart that moved the agent is told with the way back; one that did not is not")
  func wayBack() {
    let before = Self.folders(["XDG_CONFIG_HOME": "/c"], Self.usual)
    var now = AgentCommandTests.status()
    now.folders = Self.usual.merging(["configuration": "/c/oauthctl"]) { $1 }
    let step = before.wayBack(from: now)
    #expect(step?.remark == "the agent's configuration folder is /c/oauthctl now, and was ~/.config/oauthctl")
    // Whoever restarted it because he was told to is not told to undo it.
    #expect(step?.next == .advice("to go back: unset XDG_CONFIG_HOME && oauthctl agent restart"))
    now.folders = Self.usual
    #expect(before.wayBack(from: now) == nil, "systemd has started it again, as it was")
    // systemd has got another environment meanwhile.
    var status = AgentCommandTests.status()
    (status.started, status.folders) = ("systemd", Self.usual)
    let ended = AgentFolders(Environment(["HOME": "/h"]), status)
    status.folders?["configuration"] = "/c/oauthctl"
    #expect(
      ended.wayBack(from: status)?.next.text.hasPrefix("to go back, change XDG_CONFIG_HOME where systemd ") == true)
  }
}
