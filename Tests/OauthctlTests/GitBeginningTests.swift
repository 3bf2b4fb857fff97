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
    #expect(address("git-remote-ftps", "x", "https://h/x") == "https://h/x")
    #expect(address("/usr/bin/git", "remote-https", "origin", "https://h/x") == "https://h/x")
    let loader = ["/lib64/ld-linux-x86-64.so.2", "--argv0", "git-remote-https", "/usr/lib/git-core/git-remote-https"]
    #expect(
      GitBeginning.address(in: Array(((loader + ["origin", "https://h/x"]).joined(separator: "\0") + "\0").utf8))
        == "https://h/x")
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
    "It is at the server that is asked about where it is spelled the same",
    arguments: [
      ("https://h.example/x", true), ("https://me@h.example?x", true), ("https://me:p%40@h.example", true),
      ("https://h.example:443/x", false), ("http://h.example/x", false), ("https://%68.example/x", false),
      ("https://h.example./x", false), ("https://h.example@other.example/x", false), ("h.example", false), ("", false),
      ("https://other.example/@h.example", false),
    ])
  func place(address: String, isThere: Bool) {
    #expect(GitBeginning.isAt(address, "https://h.example/x") == isThere)
    #expect(GitBeginning.isAt(address, "https://h.example") == isThere)
  }
}
