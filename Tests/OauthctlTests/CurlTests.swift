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
    #expect(invocation.anyHost == (words.first == "--any-host"))
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
