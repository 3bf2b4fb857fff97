import Testing

@testable import oauthctl

@Suite("The address with which git began")
struct GitBeginningTests {
  private func address(_ words: [String]) throws -> String? {
    try GitBeginning.address(in: Array((words.joined(separator: "\0") + "\0").utf8))
  }

  @Test("It stands in the arguments of git's program for a scheme")
  func arguments() throws {
    #expect(try address(["/usr/lib/git-core/git-remote-https", "origin", "https://h/x"]) == "https://h/x")
    #expect(try address(["git-remote-http", "http://h/x"]) == "http://h/x")
    #expect(try address(["git-remote-ftps", "x", "https://h/x"]) == "https://h/x")
    #expect(try address(["/usr/bin/git", "remote-https", "origin", "https://h/x"]) == "https://h/x")
    for words in [["sh", "-c", "x"], ["git", "credential", "fill"], ["git"], ["x", "remote-https", "y"], [""]] {
      #expect(try address(words) == nil)
    }
  }

  @Test(
    "No loader before it hides it, and no remote or address that is called so",
    arguments: [
      ["/lib64/ld.so", "--argv0", "git-remote-https", "/usr/lib/git-core/git-remote-https"],
      [
        "/lib64/ld.so", "--library-path", "/a", "--preload", "/b", "--argv0", "x", "/usr/lib/git-core/git-remote-https",
      ],
      ["git-remote-https"], ["git", "remote-https"],
    ])
  func names(before: [String]) throws {
    for end in ["https://h/x", "https://h/git-remote-https", "https://h/remote-https"] {
      for remote in [["origin"], ["git-remote-https"], []] { #expect(try address(before + remote + [end]) == end) }
    }
    #expect(throws: GitBeginning.Unknown.self) { try address(["git-remote-https"]) }
    #expect(throws: GitBeginning.Unknown.self) { try address(["git-remote-https", "a", "b", "c"]) }
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
