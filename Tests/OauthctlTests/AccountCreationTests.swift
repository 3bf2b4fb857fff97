import AgentWire
import Glibc
import Testing

@testable import oauthctl

@Suite("Making an account")
struct AccountCreationTests {
  @Test("A file that was changed since somebody agreed to have it replaced is kept", arguments: [false, true])
  func agreed(isChanged: Bool) throws {
    var template = Array("/tmp/oauthctl-creation-XXXXXX".utf8CString)
    let root = try #require(mkdtemp(&template).map { String(cString: $0) })
    let variables = ["XDG_CONFIG_HOME": root]
    let file = try AccountFile(account: "work", in: Environment(variables))
    defer {
      unlink(file.path)
      for folder in ["/oauthctl/accounts.d", "/oauthctl", ""] { rmdir(root + folder) }
    }
    let shown = try #require(try file.write("issuer = \"https://old.example\"\n"))
    if isChanged { try file.write("issuer = \"https://old.example\"\n# an afternoon of work\n") }
    let status = PretendedAgent().status
    let context = CommandContext.scripted(Page(), variables) { parameters in
      switch parameters {
      case is AgentStatus: return status
      case is AccountCheck: return AccountCheckAnswer(problems: [], discovery: "OAuth metadata")
      default: return ConfigReloadAnswer(accounts: 1, problems: [])
      }
    }
    var creation = try AccountCreation(context: context, name: "work", replace: true, agreed: shown)
    do throws(CommandError) {
      _ = try creation.create(NewAccount(issuer: "https://new.example", clientID: "c"))
      #expect(!isChanged)
    } catch {
      #expect(isChanged && error.status == 3 && error.sentence?.contains("changed meanwhile") == true)
    }
    #expect(file.text?.contains("an afternoon of work") == isChanged)
    #expect(file.text?.contains("https://new.example") == !isChanged)
  }
}
