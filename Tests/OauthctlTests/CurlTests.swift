import AgentWire
import HelperFormats
import Testing

@testable import oauthctl

@Suite("curl's command line")
struct CurlTests {
  @Test(
    "The first word is the account when a URL follows it",
    arguments: [
      (["work", "https://a/"], "work", ["https://a/"]), (["https://a/"], nil, ["https://a/"]),
      (["example.com"], nil, ["example.com"]), (["work", "-d", "x", "example.com"], "work", ["example.com"]),
      (["-s", "work", "https://a/"], nil, ["work", "https://a/"]),
      (["--any-host", "work", "https://a/"], "work", ["https://a/"]), (["localhost"], nil, ["localhost"]),
    ] as [([String], String?, [String])])
  func account(words: [String], account: String?, urls: [String]) throws {
    let invocation = try CurlInvocation(words)
    #expect(invocation.account == account)
    #expect(invocation.arguments.urls == urls)
    #expect(invocation.own.anyHost == (words.first == "--any-host"))
  }

  @Test("oauthctl's own options come first, with the value behind a blank or an equals sign")
  func ownOptions() throws {
    let invocation = try CurlInvocation([
      "--scope", "work", "--resource=https://a/b", "--any-host", "--scope=read write", "--audience", "--x", "work",
      "-s", "https://h/",
    ])
    #expect(invocation.account == "work" && invocation.arguments.urls == ["https://h/"] && invocation.own.anyHost)
    let selection = invocation.own.selection
    #expect(selection.scopes == ["work", "read", "write"])
    #expect(selection.resource == ["https://a/b"] && selection.audience == ["--x"])
    #expect(
      invocation.own.words
        == "--any-host --scope work --scope read --scope write --resource https://a/b --audience=--x "
    )
  }

  @Test(
    "One of them that comes too late, or without its value, is told by name and never given to curl",
    arguments: [
      (["work", "--scope", "read", "https://h/"], "--scope"), (["https://h/", "--resource=https://a/"], "--resource"),
      (["work", "--any-host", "https://h/"], "--any-host"), (["--audience"], "--audience"),
      (["--scope", "", "work", "https://h/"], "--scope"),
      (["--scope=read", "--scope= ", "work", "https://h/"], "--scope"),
      (["--resource=", "work", "https://h/"], "--resource"),
    ] as [([String], String)])
  func late(words: [String], name: String) {
    let error = #expect(throws: CommandError.self) { try CurlInvocation(words) }
    #expect(error?.sentence?.hasPrefix(name) == true && error?.status == 125, "\(String(describing: error))")
  }

  @Test("A URL that was taken for the value of one is told, where no other is there")
  func swallowedURL() throws {
    let error = #expect(throws: CommandError.self) { try CurlInvocation(["--scope", "https://h/"]) }
    #expect(error?.status == 125 && error?.sentence?.hasPrefix("--scope lacks its value") == true)
    #expect(error?.nextStep?.text.hasPrefix("oauthctl curl --scope VALUE https://h/   # ") == true)
    #expect(try CurlInvocation(["--scope", "https://h/", "https://h/"]).own.selection.scopes == ["https://h/"])
  }

  @Test(
    "An account's name that was taken for the value of one is told, where there is no token", arguments: [" ", "="])
  func swallowedName(between: String) throws {
    let words = ("--scope\(between)web https://h/").split(separator: " ").map(String.init)
    let context = CommandContext.scripted(Page()) { parameters throws(CommandError) in
      guard parameters is AccountShow else { throw .agent(AgentFailure(.accountAmbiguous, "3 fit"), account: nil) }
      return AccountDetails(
        summary: PretendedAgent().account, file: "", endpoints: [:], secrets: [], differences: [], problems: [],
        loggedInAt: nil, refreshedAt: nil, fingerprint: nil)
    }
    let error = #expect(throws: CommandError.self) {
      _ = try CurlRun(context: context, invocation: CurlInvocation(words)).run()
    }
    #expect(
      (error?.sentence == "--scope lacks its value: web is an account") == (between == " "),
      "\(String(describing: error))")
  }

  @Test("A vault that is locked is told as that, and not as a mistake in curl's arguments")
  func locked() throws {
    let context = CommandContext.scripted(Page()) { _ throws(CommandError) in
      throw .agent(AgentFailure(.vaultLocked, "the vault is locked"), account: nil)
    }
    let error = #expect(throws: CommandError.self) {
      _ = try CurlRun(context: context, invocation: CurlInvocation(["-s", "work", "http://127.0.0.1/"])).run()
    }
    #expect(error?.sentence == "the vault is locked")
  }

  @Test("Each of them is no option of curl's")
  func names() {
    for name in CurlOwnOptions.names { #expect(CurlOptionTable.shape(of: String(name.dropFirst(2))) == nil) }
  }

  @Test("A scope that the login has and --scope leaves out is told with the command that asks for it")
  func leftOut() throws {
    let page = Page()
    let context = CommandContext.scripted(page) { parameters throws(CommandError) in
      #expect((parameters as? TokenGet)?.neededScope == ["write"])
      return TokenAnswer.example()
    }
    let run = CurlRun(context: context, invocation: try CurlInvocation(["--scope", "read", "work", "https://h/"]))
    var token = HelperToken(TokenAnswer.example())
    token.scope = ["read"]
    run.tell(neededScope: ["read", "write"], token)
    #expect(page.error.contains("wants write, which this login has and --scope leaves out"))
    #expect(page.error.contains("oauthctl curl --scope read --scope write work …"))
    token.scope = ["read", "write"]
    page.error = ""
    run.tell(neededScope: ["write"], token)
    #expect(page.error.contains("a right may be missing there"))
  }

  @Test(
    "An account's name behind an option is told to come first, and a host of one word is none",
    arguments: [
      (["-s", "work", "https://h/"], "oauthctl curl work …"), (["-s", "work"], "oauthctl curl work …"),
      (["--any-host", "-d", "x", "http://127.0.0.1/", "work"], "oauthctl curl --any-host work …"),
      (["-s", "intranet"], nil), (["-s", "https://h/"], nil), (["-s", "-d", "work", "https://h/"], nil),
    ] as [([String], String?)])
  func order(words: [String], step: String?) throws {
    let context = CommandContext.scripted(Page()) { parameters throws(CommandError) in
      guard (parameters as? AccountShow)?.account == "work" else { throw .silent(status: 2) }
      return AccountDetails(
        summary: PretendedAgent().account, file: "", endpoints: [:], secrets: [], differences: [], problems: [],
        loggedInAt: nil, refreshedAt: nil, fingerprint: nil)
    }
    let run = CurlRun(context: context, invocation: try CurlInvocation(words))
    do throws(CommandError) {
      _ = try run.run()
      Issue.record("curl ran")
    } catch {
      #expect(error.nextStep == step.map { .run($0) })
      if step != nil {
        #expect(
          error == .local("work is an account, and its name comes first", next: step.map { .run($0) }, status: 125))
      }
    }
  }

  @Test("A name without a URL says so")
  func nameAlone() { #expect(throws: CommandError.self) { try CurlInvocation(["work", "-s"]) } }
}
