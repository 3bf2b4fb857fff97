import Testing

@testable import oauthctl

@Suite("The address with which git began")
struct GitBeginningTests {
  private func address(_ words: String...) -> String? {
    GitBeginning.address(in: Array((words.joined(separator: "\0") + "\0").utf8))
  }

  @Test("It stands in the arguments of git's program for a scheme")
  func arguments() {
    #expect(address("/usr/lib/git-core/git-remote-https", "origin", "https://h/x") == "https://h/x")
    #expect(address("git-remote-http", "http://h/x") == "http://h/x")
    #expect(address("/usr/bin/git", "remote-https", "origin", "https://h/x") == "https://h/x")
    for words in [["sh", "-c", "x"], ["git", "credential", "fill"], ["git"], ["git-remote-https"], [""]] {
      #expect(GitBeginning.address(in: Array((words.joined(separator: "\0") + "\0").utf8)) == nil)
    }
  }

  @Test("A parent is the fourth field, whatever the name holds")
  func parents() {
    #expect(GitBeginning.parent(in: Array("12 (a) b) S 7 1 1".utf8)) == 7)
    #expect(GitBeginning.parent(in: Array("12 (a".utf8)) == nil && GitBeginning.parent(in: []) == nil)
  }

  @Test(
    "It is plain where git and libcurl cannot read it otherwise than as this server's",
    arguments: [
      ("https://h.example/x", true), ("HTTPS://me@H.example:443/a%2Fb//c", true), ("https://me:p%40@h.example", true),
      ("https://h.example:8443/x", false), ("http://h.example/x", false), ("https://%68.example/x", false),
      ("https://h.example./x", false), ("https://h.example/%zz", false), ("https://h.example/a/../x", false),
      ("https://m%zz@h.example/x", false), ("https://other.example/x", false), ("ssh://h.example/x", false),
      ("https://h.example:0443/x", true), ("https://h.example@other.example/x", false), ("h.example", false),
    ])
  func plain(address: String, isPlain: Bool) {
    #expect(GitBeginning.isPlain(address, for: "https://h.example/x") == isPlain)
  }

  @Test("With the port that is asked for, and an address")
  func ports() {
    #expect(GitBeginning.isPlain("https://127.0.0.1:8443/x", for: "https://127.0.0.1:8443"))
    #expect(!GitBeginning.isPlain("https://127.1:8443/x", for: "https://127.0.0.1:8443"))
    #expect(GitBeginning.isPlain("https://[::1]:8443/x", for: "https://[::1]:8443"))
    #expect(!GitBeginning.isPlain("https://[0::1]:8443/x", for: "https://[::1]:8443"))
  }
}
