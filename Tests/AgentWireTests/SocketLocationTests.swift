import Testing

@testable import AgentWire

@Suite("Where the socket is")
struct SocketLocationTests {
  typealias Status = SocketLocation.FileStatus

  static let mine = Status(kind: .directory, owner: 1000, mode: 0o700)

  struct Case: CustomTestStringConvertible {
    var testDescription: String
    var environment: [String: String] = [:]
    var files: [String: Status] = [:]
    var path: String?
    var source: SocketLocation.Source = .temporary
    var failure: SocketLocation.Failure?

    init(
      _ name: String, _ environment: [String: String] = [:], _ files: [String: Status] = [:], path: String? = nil,
      source: SocketLocation.Source = .temporary, failure: SocketLocation.Failure? = nil
    ) {
      testDescription = name
      self.environment = environment
      self.files = files
      self.path = path
      self.source = source
      self.failure = failure
    }
  }

  static let long = "/" + String(repeating: "d", count: 120)
  static let cases: [Case] = [
    Case(
      "the variable comes first", ["OAUTHCTL_SOCKET": "/a/b.sock", "XDG_RUNTIME_DIR": "/run/x"], ["/run/x": mine],
      path: "/a/b.sock", source: .environment),
    Case(
      "an empty variable fails", ["OAUTHCTL_SOCKET": "", "XDG_RUNTIME_DIR": "/run/x"], ["/run/x": mine],
      failure: .emptyVariable),
    Case("a relative variable fails", ["OAUTHCTL_SOCKET": "b.sock"], failure: .relativeVariable("b.sock")),
    Case(
      "a variable of 107 bytes is taken", ["OAUTHCTL_SOCKET": "/" + String(repeating: "d", count: 106)],
      path: "/" + String(repeating: "d", count: 106), source: .environment),
    Case(
      "a variable of 108 bytes fails", ["OAUTHCTL_SOCKET": "/" + String(repeating: "d", count: 107)],
      failure: .tooLong("/" + String(repeating: "d", count: 107))),
    Case(
      "the runtime directory", ["XDG_RUNTIME_DIR": "/run/x"], ["/run/x": mine], path: "/run/x/oauthctl/agent.sock",
      source: .runtimeDirectory),
    Case(
      "a slash at its end does not matter", ["XDG_RUNTIME_DIR": "/run/x//"], ["/run/x//": mine],
      path: "/run/x/oauthctl/agent.sock", source: .runtimeDirectory),
    Case(
      "a runtime directory that is too long fails", ["XDG_RUNTIME_DIR": long], [long: mine],
      failure: .tooLong(long + "/oauthctl/agent.sock")),
    Case(
      "a runtime directory of another is passed over", ["XDG_RUNTIME_DIR": "/run/x"],
      ["/run/x": Status(kind: .directory, owner: 0, mode: 0o700)], path: "/tmp/oauthctl-1000/agent.sock"),
    Case(
      "a runtime directory that others may write is passed over", ["XDG_RUNTIME_DIR": "/run/x"],
      ["/run/x": Status(kind: .directory, owner: 1000, mode: 0o770)], path: "/tmp/oauthctl-1000/agent.sock"),
    Case(
      "a runtime directory that is a link is passed over", ["XDG_RUNTIME_DIR": "/run/x"],
      ["/run/x": Status(kind: .symbolicLink, owner: 1000, mode: 0o777)], path: "/tmp/oauthctl-1000/agent.sock"),
    Case(
      "a runtime directory that is not there is passed over", ["XDG_RUNTIME_DIR": "/run/x"], ["/run/user/1000": mine],
      path: "/run/user/1000/oauthctl/agent.sock", source: .userRuntimeDirectory),
    Case(
      "a relative runtime directory is passed over", ["XDG_RUNTIME_DIR": "x"], ["x": mine],
      path: "/tmp/oauthctl-1000/agent.sock"),
    Case(
      "an empty runtime directory is none", ["XDG_RUNTIME_DIR": ""], ["": mine], path: "/tmp/oauthctl-1000/agent.sock"),
    Case(
      "without a variable, /run/user when it is ours", [:], ["/run/user/1000": mine],
      path: "/run/user/1000/oauthctl/agent.sock", source: .userRuntimeDirectory),
    Case(
      "/run/user of another is passed over", [:], ["/run/user/1000": Status(kind: .directory, owner: 0, mode: 0o755)],
      path: "/tmp/oauthctl-1000/agent.sock"),
    Case("the last resort may be there", [:], ["/tmp/oauthctl-1000": mine], path: "/tmp/oauthctl-1000/agent.sock"),
    Case(
      "the last resort of another fails", [:],
      ["/tmp/oauthctl-1000": Status(kind: .directory, owner: 666, mode: 0o700)],
      failure: .unsafeDirectory("/tmp/oauthctl-1000", .othersOwn)),
    Case(
      "the last resort as a link fails", [:],
      ["/tmp/oauthctl-1000": Status(kind: .symbolicLink, owner: 1000, mode: 0o777)],
      failure: .unsafeDirectory("/tmp/oauthctl-1000", .symbolicLink)),
    Case(
      "the last resort as a file fails", [:], ["/tmp/oauthctl-1000": Status(kind: .other, owner: 1000, mode: 0o700)],
      failure: .unsafeDirectory("/tmp/oauthctl-1000", .noDirectory)),
    Case(
      "the last resort open to others fails", [:],
      ["/tmp/oauthctl-1000": Status(kind: .directory, owner: 1000, mode: 0o755)],
      failure: .unsafeDirectory("/tmp/oauthctl-1000", .openToOthers(mode: 0o755))),
  ]

  @Test("is found by rules", arguments: cases)
  func resolves(_ example: Case) throws {
    func resolve() throws(SocketLocation.Failure) -> SocketLocation {
      try SocketLocation.resolve(variable: { example.environment[$0] }, uid: 1000) { example.files[$0] }
    }
    if let failure = example.failure {
      #expect(throws: failure) { try resolve() }
      #expect(!failure.message.isEmpty && !failure.hint.text.isEmpty)
      if failure.message.contains("another user") { #expect(failure.hint.text.contains("export XDG_RUNTIME_DIR=")) }
    } else {
      let location = try resolve()
      #expect(location.path == example.path)
      #expect(location.source == example.source)
    }
  }

  @Test("a named directory may be root's and readable, never writable by others")
  func namedDirectory() {
    let named = SocketLocation(path: "/a/b.sock", source: .environment)
    #expect(named.directory == "/a")
    #expect(named.problem(ofDirectory: Status(kind: .directory, owner: 0, mode: 0o755), uid: 1000) == nil)
    #expect(named.problem(ofDirectory: Status(kind: .directory, owner: 1000, mode: 0o1777), uid: 1000) != nil)
    #expect(named.problem(ofDirectory: Status(kind: .directory, owner: 5, mode: 0o700), uid: 1000) != nil)
    #expect(SocketLocation(path: "/b.sock", source: .environment).directory == "/")
  }

  @Test(
    "The line that has a shell use another agent is one word to the shell, whatever the path holds",
    arguments: [
      ("/run/user/1/oauthctl/agent.sock", "export XDG_RUNTIME_DIR=/run/user/1"),
      ("/x/other.sock", "export OAUTHCTL_SOCKET=/x/other.sock"),
      ("/x y/oauthctl/agent.sock", "export XDG_RUNTIME_DIR='/x y'"),
      ("/x'\u{301};id", #"export OAUTHCTL_SOCKET='/x'\''"# + "\u{301};id'"),
    ])
  func export(path: String, line: String) {
    #expect(Array(SocketLocation.export(path).utf8) == Array(line.utf8))
  }
}

@Suite("Text of others")
struct PrintableTextTests {
  @Test(
    "is shown without controls",
    arguments: [
      ("plain é 漢", "plain é 漢"), ("a\u{1B}[2J", "a\\u{1B}[2J"), ("a\r\nb\u{7F}", "a\\u{D}\\u{A}b\\u{7F}"),
      ("\u{85}\u{9B}", "\\u{85}\\u{9B}"), ("\u{202E}x\u{2066}", "\\u{202E}x\\u{2066}"),
      ("\u{200B}\u{FEFF}\u{2028}", "\\u{200B}\\u{FEFF}\\u{2028}"),
      ("a\u{A0}b\u{2800}\u{3000}", "a\\u{A0}b\\u{2800}\\u{3000}"), ("e\u{301} \u{301}", "e\u{301} \\u{301}"),
      ("a\u{13441}\u{1D159}", "a\\u{13441}\\u{1D159}"),
      ("e\u{301}\u{302}\u{303}\u{304}\u{305}", "e\u{301}\u{302}\u{303}\u{304}\\u{305}"),
      ("\u{E000}\u{34F}\u{3164}", "\\u{E000}\\u{34F}\\u{3164}"),
    ])
  func escapes(text: String, shown: String) {
    #expect(PrintableText.escaped(text) == shown)
  }

  @Test("is cut") func cut() {
    #expect(PrintableText.escaped("abcdef", limit: 3) == "abc…")
    #expect(PrintableText.escaped("abc", limit: 3) == "abc")
  }
}
