import ArgumentParser
import Testing

@testable import oauthctl

@Suite("Ports of a redirect")
struct PortListTests {
  @Test(
    "One port stands in the redirect, several beside it",
    arguments: [
      (["--port", "8400"], "redirect_uri = \"http://127.0.0.1:8400/callback\"\n", false),
      (["--port", "8400,8401"], "redirect_ports = [8400, 8401]\n", true),
      (
        ["--port", "8400,8401", "--redirect-path", "/cb"], "redirect_uri = \"http://127.0.0.1/cb\"\nredirect_ports",
        true
      ),
      (
        ["--port", "8400,8401", "--redirect-uri", "http://localhost/cb"],
        "redirect_uri = \"http://localhost/cb\"\nredirect_ports", true
      ),
    ])
  func ports(flags: [String], text: String, areSeveral: Bool) throws {
    let toml = try #require(try account(flags)).tomlText
    #expect(toml.contains(text) && toml.contains("redirect_ports") == areSeveral)
  }

  @Test(
    "What is no list of ports is refused", arguments: ["", "a", "8400,", "8400 8401", "0,1", "1,70000", "1,1", "0"])
  func badPorts(text: String) {
    #expect(throws: (any Error).self) { try account(["--port", text]) }
  }

  @Test("The files of an https redirect are written with their whole paths")
  func identity() throws {
    // Any two files: what is in them is looked at by the agent.
    let flags = [
      "--redirect-uri", "https://localhost:8443/cb", "--redirect-cert", "stat", "--redirect-key", "/proc/stat",
    ]
    let toml = try #require(try account(flags)).tomlText
    #expect(toml.contains("redirect_cert_file = \"/proc/stat\"\nredirect_key_file = \"/proc/stat\"\n"))
  }

  private func account(_ flags: [String]) throws -> NewAccount? {
    let words = ["login", "work", "https://as.example", "--client-id", "mine"] + flags
    let command = try #require(try Oauthctl.parseAsRoot(words) as? LoginCommand)
    return try command.options.account(name: "work", issuer: "https://as.example", workingFolder: "/proc")
  }
}
