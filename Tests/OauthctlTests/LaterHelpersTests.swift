import Testing

@testable import oauthctl

@Suite("Helpers that git tells a token after ours")
struct LaterHelpersTests {
  private static let ours = "/usr/bin/git-credential-oauthctl"

  private static func names(_ entries: String..., url: String = "https://h", files: [String: String] = [:]) -> [String]
  {
    LaterHelpers(in: entries.joined(separator: "\0")) { files[$0] }.names(for: url)
  }

  @Test("Those behind ours count, whatever they are for, until an empty one")
  func after() {
    let own = "credential.https://h.helper\n\(Self.ours)"
    #expect(Self.names("credential.helper\ncache", "credential.https://h.helper\n", own).isEmpty)
    #expect(
      Self.names(own, "credential.https://other.helper\nx", "credential.helper\nstore --file x") == ["store --file x"])
    #expect(
      Self.names(own, "credential.helper\nstore", "credential.helper\n", "credential.https://h/a.helper\nx") == ["x"])
    #expect(Self.names(own, "credential.helper\nstore", "credential.helper\nstore") == ["store"])
    #expect(Self.names("credential.helper\nstore").isEmpty)
  }

  @Test("Those of a file that git reads in some folders count, and switch none off")
  func included() {
    let own = "credential.https://h.helper\n\(Self.ours)"
    let files = ["~/more": "credential.helper\n\0credential.helper\nstore\0"]
    #expect(
      Self.names(own, "credential.helper\ncache", "includeif.gitdir:~/repo/.path\n~/more", files: files)
        == ["cache", "store (in ~/more, which git reads in some folders)"])
    #expect(Self.names("includeif.gitdir:~/repo/.path\n~/more", own, files: files).isEmpty)
    #expect(Self.names(own, "includeif.gitdir:~/repo/.path\n~/gone", files: files).isEmpty)
  }

  @Test(
    "A key counts for the addresses that git takes it for",
    arguments: [
      ("", true), ("https://h.example", true), ("HTTPS://H.example", true), ("https://h.example:443/", true),
      ("https://h.example:0443", true), ("https://me@h.example", true), ("https://*.example", true),
      ("https://*.*", true), ("https://*", false), ("https://h.*", true), ("h.example", true),
      ("h.example:8443", false),
      ("https://h.example/team", true), ("https://h.example/team/one.git", true), ("https://h.example/other", false),
      ("https://%68.example", true), ("http://h.example", false), ("https://h.example:8443", false),
      ("https://x.h.example", false), ("https://[::1]:443", false),
    ])
  func pattern(_ pattern: String, fits: Bool) {
    #expect(GitPattern(pattern).fits("https://h.example/team") == fits)
  }
}
