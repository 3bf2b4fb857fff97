import Testing

@testable import oauthctl

@Suite("Helpers that git tells a token beside ours")
struct OtherHelpersTests {
  private static let ours = "/usr/bin/git-credential-oauthctl"

  private static func names(_ entries: String..., url: String = "https://h", files: [String: String] = [:]) -> [String]
  {
    let list = entries.map { "file:/home/u/.gitconfig\0\($0)\0" }.joined()
    let helpers = OtherHelpers(home: "/home/u") { options in
      options[0] == "--file" ? files[options[1]].map { "file:\(options[1])\0\($0)\0" } : list
    }
    return helpers.names(for: url)
  }

  @Test("Those before and behind ours count, whatever they are for, from the last empty one on")
  func beside() {
    let own = "credential.https://h.helper\n\(Self.ours)"
    #expect(Self.names("credential.helper\ncache", "credential.https://h.helper\n", own).isEmpty)
    #expect(
      Self.names(own, "credential.https://other.helper\nx", "credential.helper\nstore --file x") == ["store"])
    #expect(
      Self.names(own, "credential.helper\nstore", "credential.helper\n", "credential.https://h/a.helper\nx") == ["x"])
    #expect(Self.names(own, "credential.helper\nstore", "credential.helper\nstore") == ["store"])
    #expect(Self.names("credential.helper\nstore").isEmpty)
    #expect(Self.names("credential.helper\nstore", own) == ["store"])
    #expect(Self.names("credential.https://h.helper\n", "credential.https://h.helper\nstore", own) == ["store"])
  }

  @Test("Of a helper its name is shown, and of a line of shell nothing: both may hold a password")
  func shell() {
    let own = "credential.https://h.helper\n\(Self.ours)"
    let entry = "credential.helper\n!f() { echo password=secret; }; f"
    #expect(Self.names(own, entry) == ["a line of shell"])
    #expect(Self.names(own, "credential.helper\nstore --token=secret") == ["store"])
    #expect(Self.names(own, "credential.helper\nhttps://u:secret@h") == ["…@h"])
  }

  @Test("An empty one behind ours switches it off, but not one that counts in some folders only")
  func switchedOff() {
    let own = "credential.https://h.helper\n\(Self.ours)"
    func isOff(_ entries: String...) -> Bool {
      OtherHelpers(home: "/home/u") { $0[0] == "--file" ? nil : entries.map { "file:/g\0\($0)\0" }.joined() }
        .switchedOff(["https://h"]) != nil
    }
    #expect(isOff(own, "credential.helper\n") && isOff(own, "credential.helper\n", "credential.helper\nstore"))
    #expect(isOff(own, "credential.https://*.helper\n") == GitPattern("https://*").fits(GitPattern("https://h")))
    #expect(!isOff(own, "credential.https://h/path.helper\n") && !isOff(own, "credential.https://me@h.helper\n"))
    for odd in ["https://caf%C3%A9.example", "https://café.example", "http://"] {
      #expect(!isOff(own, "credential.\(odd).helper\n"))
    }
    for whole in ["https://", "https:///", "https://h/", "https://h:443", "h"] {
      #expect(isOff(own, "credential.\(whole).helper\n"), "\(whole)")
    }
    for partial in ["h:443", "H", "*"] {
      #expect(!isOff(own, "credential.\(partial).helper\n"), "\(partial)")
    }
    for part in ["https://h/path", "https://me@h"] {
      #expect(Self.names(own, "credential.helper\nstore", "credential.\(part).helper\n") == ["store"])
    }
    #expect(!isOff("credential.helper\n", own) && !isOff(own, "credential.https://other.helper\n"))
    #expect(!isOff(own, "credential.helper\n", own) && !isOff("credential.helper\n"))
  }

  @Test("A file that git alone finds may name any")
  func unreadable() {
    let own = "credential.https://h.helper\n\(Self.ours)"
    for path in ["%(prefix)/etc/more", ":(optional)more", "/home/u/Andr\u{FFFD}"] {
      #expect(
        Self.names(own, "includeif.gitdir:~/repo/.path\n\(path)")
          == ["any (in \(path), which git reads in some folders)"])
    }
  }

  @Test("Those of a file that git reads in some folders count, and switch none off")
  func included() {
    let own = "credential.https://h.helper\n\(Self.ours)"
    let (empty, keep) = ("credential.helper\n", "credential.helper\nkeep")
    func include(_ path: String) -> String { "includeif.gitdir:~/repo/.path\n\(path)" }
    func keeps(in file: String) -> [String] { ["keep (in \(file), which git reads in some folders)"] }
    for (path, file) in [("~/more", "/home/u/more"), ("more", "/home/u/more"), ("/etc/more", "/etc/more")] {
      #expect(Self.names(own, include(path), files: [file: keep]) == keeps(in: file))
    }
    #expect(Self.names(own, "credential.helper\ncache", include("more"), files: ["/home/u/more": empty]) == ["cache"])
    #expect(Self.names(include("more"), own, files: ["/home/u/more": keep]) == keeps(in: "/home/u/more"))
    #expect(Self.names(own, include("gone")).isEmpty)
    // One in two places; one in another; one in itself.
    #expect(
      Self.names(include("more"), own, include("more"), files: ["/home/u/more": keep]) == keeps(in: "/home/u/more"))
    let nested = ["/home/u/a/one": include("two"), "/home/u/a/two": keep]
    #expect(Self.names(own, include("a/one"), files: nested) == keeps(in: "/home/u/a/two"))
    #expect(Self.names(own, include("a"), files: ["/home/u/a": include("/home/u/a")]).isEmpty)
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
      ("https://x.h.example", false), ("https://[::1]:443", false), ("https://h.example.", true),
      ("https://*.example.:443", true), ("https://*.*.", true), ("https://h.", false), ("https://h.example..", false),
    ])
  func pattern(_ pattern: String, fits: Bool) {
    #expect(GitPattern(pattern).fits(GitPattern("https://h.example/team")) == fits)
  }
}
