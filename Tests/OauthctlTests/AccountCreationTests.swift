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
    let file = try SettingsFile(account: "work", in: Environment(variables))
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

  @Test(
    "The next step after an account is taken back follows the key that is in the way; without DPoP the login is the same"
  )
  func obstacles() throws {
    var template = Array("/tmp/oauthctl-creation-XXXXXX".utf8CString)
    let root = try #require(mkdtemp(&template).map { String(cString: $0) })
    let variables = ["XDG_CONFIG_HOME": root]
    let file = try SettingsFile(account: "work", in: Environment(variables))
    defer { for folder in ["/oauthctl/accounts.d", "/oauthctl", ""] { rmdir(root + folder) } }
    let command = "oauthctl login work https://as.example --client-id c --dpop"
    func nextStep(_ obstacle: String?) throws -> NextStep? {
      let (status, summary) = (PretendedAgent().status, PretendedAgent().account)
      let context = CommandContext.scripted(Page(), variables) { parameters in
        switch parameters {
        case is AgentStatus: return status
        case is AccountCheck: return AccountCheckAnswer(problems: [], discovery: "OAuth metadata")
        case is AccountShow:
          return AccountDetails(
            summary: summary, file: "", endpoints: [:], secrets: [], differences: [], problems: [], loggedInAt: nil,
            refreshedAt: nil, fingerprint: nil)
        case is AccountForget: return AccountForgetAnswer()
        default: return ConfigReloadAnswer(accounts: 1, problems: [])
        }
      }
      var creation = try AccountCreation(context: context, name: "work", replace: false)
      _ = try creation.create(NewAccount(issuer: "https://as.example", clientID: "c"))
      var failure = AgentFailure(.serverRefused, "work: no", hint: "take something out of \(file.path)")
      failure.obstacleKey = obstacle
      let error = CommandError.agent(failure, account: "work")
      return creation.takingBack(after: error, command: command, isHalf: false, otherMethod: nil).nextStep
    }
    #expect(try nextStep("dpop")?.text.hasPrefix("oauthctl login work https://as.example --client-id c   #") == true)
    #expect(try nextStep("resource") == "run the command again with other options")
    #expect(try nextStep("redirect_uri")?.text.hasPrefix("run the command again with another --port, or") == true)
    #expect(try nextStep(nil)?.text.hasPrefix("take something out of") == true)
  }
}
