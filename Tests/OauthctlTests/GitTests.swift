import AgentWire
import HelperFormats
import Testing

@testable import oauthctl

@Suite("git")
struct GitTests {
  private static let key = "credential.https://h.helper"
  private static let ours = "/opt/oauthctl git-credential"

  @Test(
    "Our two lines are put behind what is there, once",
    arguments: [
      ([], [["--add", key, ""], ["--add", key, ours]]), (["", ours], []), (["store", "", ours], []),
      (["store"], [["--add", key, ""], ["--add", key, ours]]),
      (["", "/old/oauthctl git-credential"], [["--unset-all", key], ["--add", key, ""], ["--add", key, ours]]),
      (
        ["", ours, "cache"],
        [
          ["--fixed-value", "--unset-all", key, ours], ["--unset-all", key, "^$"], ["--add", key, ""],
          ["--add", key, ours],
        ]
      ),
    ])
  func install(values: [String], commands: [[String]]) {
    #expect(GitSetup.install(key: Self.key, values: values, helper: Self.ours) == commands)
  }

  @Test(
    "Only our lines are taken away",
    arguments: [
      ([], []), (["store"], []), (["", ours], [["--unset-all", key]]), ([ours], [["--unset-all", key]]),
      (["store", "", ours], [["--fixed-value", "--unset-all", key, ours], ["--unset-all", key, "^$"]]),
      (["", "store", ours], [["--fixed-value", "--unset-all", key, ours]]),
      (["", "store", "", ours], [["--fixed-value", "--unset-all", key, ours]]),
      (["", "!oauthctl git-credential"], []), (["", "/x/git-credential-oauthctl"], [["--unset-all", key]]),
    ])
  func remove(values: [String], commands: [[String]]) {
    #expect(GitSetup.remove(key: Self.key, values: values) == commands)
  }

  @Test(
    "The helper is an absolute path that the shell takes as one word",
    arguments: [
      ("/usr/bin/oauthctl", false, "/usr/bin/oauthctl git-credential"),
      ("/usr/bin/oauthctl", true, "/usr/bin/git-credential-oauthctl"),
      ("/a b/$x'/oauthctl", false, #"/a\ b/\$x\'/oauthctl git-credential"#),
    ])
  func helper(executable: String, hasLink: Bool, helper: String) {
    #expect(GitSetup.helper(executable: executable, hasLink: hasLink) == helper)
    #expect(GitSetup.isOurs(helper))
  }

  @Test(
    "Hosts become keys",
    arguments: [
      ("h", "credential.https://h.helper"), ("h:8443", "credential.https://h:8443.helper"),
      ("http://127.0.0.1:1/", "credential.http://127.0.0.1:1.helper"), ("https://h", "credential.https://h.helper"),
    ])
  func keys(host: String, key: String) { #expect(GitSetup.key(host: host) == key) }

  @Test(
    "What git is told about a failure",
    arguments: [
      (FailureKind.accountUnknown, "", false), (.loginRequired, "quit=1\n", true), (.vaultLocked, "quit=1\n", true),
      (.definitionChanged, "quit=1\n", true), (.unavailable, "", true), (.internal, "", true),
    ])
  func failures(kind: FailureKind, output: String, speaks: Bool) throws {
    let lookup = try #require(GitLookup(GitCredentialRequest(Array("protocol=https\nhost=h\n".utf8))))
    let bench = Workbench.scripted(Page()) { _ throws(CommandError) in
      throw .agent(AgentFailure(kind, "why", hint: nil), account: nil)
    }
    let reply = GitCredentialHelper(bench: bench).reply(to: lookup)
    #expect(reply.output == output)
    #expect((reply.note != nil) == speaks)
    #expect(reply.note?.contains("\n") != true)
  }

  @Test("The token git refused is named to the agent by its fingerprint")
  func rejected() throws {
    let digits = String(repeating: "a", count: 32)
    let input =
      "capability[]=state\ncapability[]=authtype\nprotocol=https\nhost=H:443\nwwwauth[]=Bearer\nstate[]=oauthctl:1:\(digits)\n"
    let lookup = try #require(GitLookup(GitCredentialRequest(Array(input.utf8))))
    let bench = Workbench.scripted(Page()) { parameters throws(CommandError) in
      guard let request = parameters as? TokenGet, request.url == "https://h/", request.account == nil,
        request.rejected == RejectedToken(fingerprint: "sha256:" + digits)
      else { throw .silent(status: 1) }
      return TokenAnswer.example("new")
    }
    let reply = GitCredentialHelper(bench: bench).reply(to: lookup)
    #expect(reply.output.contains("credential=new\n") && !reply.output.contains("continue"))
  }
}
