import AgentWire
import ArgumentParser
import Glibc
import Testing

@testable import oauthctl

@Suite("setup proxy")
struct ProxyTests {
  @Test(
    "The variables are read as curl reads them",
    arguments: [
      (["HTTPS_PROXY": "http://p:1"], "http://p:1", []),
      (["https_proxy": "p:1", "HTTPS_PROXY": "q:2"], "http://p:1", []),
      (["ALL_PROXY": "socks5h://p:1/"], "socks5h://p:1", []), (["HTTP_PROXY": "http://p:1"], nil, []),
      (["HTTPS_PROXY": ""], nil, []), (["NO_PROXY": "a"], nil, []),
      (["HTTPS_PROXY": "p:1", "NO_PROXY": "a,.b, *.c ,a"], "http://p:1", ["a", ".b", ".c"]),
      (
        ["HTTPS_PROXY": "p:1", "no_proxy": "::1,127.0.0.1,h:8443,[::2]"], "http://p:1",
        ["[::1]", "127.0.0.1", "h:8443", "[::2]"]
      ),
    ] as [([String: String], String?, [String])])
  func variables(variables: [String: String], proxy: String?, exceptions: [String]) {
    let found = ProxyVariables(Environment(variables))
    #expect(found == proxy.map { ProxyVariables(proxy: $0, exceptions: exceptions) })
  }

  @Test("Ranges of addresses are taken over; what is neither range nor host is left out, and named")
  func ranges() {
    let exceptions = "10.0.0.0/8,a,fd00::/8,http://b/,c/d,me:p@ss@e"
    let found = ProxyVariables(Environment(["HTTPS_PROXY": "p:1", "NO_PROXY": exceptions]))
    #expect(found?.exceptions == ["10.0.0.0/8", "a", "fd00::/8"])
    #expect(found?.leftOut == ["http://…", "c/d", "…@e"])
  }

  @Test(
    "One key is changed, every other line stays",
    arguments: [
      ("", "\"p\"", "proxy = \"p\"\n"), ("# mine\na = 1\n", "\"p\"", "# mine\na = 1\nproxy = \"p\"\n"),
      ("a = 1\nproxy=\"old\" # why\nb = 2\n", "\"p\"", "a = 1\nproxy = \"p\"\nb = 2\n"),
      ("no_proxy = [\"x\"]\n  proxy = \"old\"\n", nil, "no_proxy = [\"x\"]\n"), ("a = 1\n", nil, "a = 1\n"),
      ("a = 1\n[t]\nb = 2\n", "\"p\"", "a = 1\nproxy = \"p\"\n[t]\nb = 2\n"),
      ("# proxy = \"no\"\n", "\"p\"", "# proxy = \"no\"\nproxy = \"p\"\n"),
      ("\u{FEFF}proxy = \"old\"\na = 1\n", nil, "a = 1\n"), ("# \"a\\b\" = 1\n", nil, "# \"a\\b\" = 1\n"),
    ] as [(String, String?, String)])
  func settings(old: String, value: String?, new: String) {
    var settings = SettingsText(old)
    let isSet = settings.set("proxy", value)
    #expect(isSet)
    #expect(settings.text == new)
  }

  @Test("What a proxy is named with beside its place is neither shown nor written", arguments: ["--yes", "--dry-run"])
  func secrets(option: String) throws {
    let end = try run([option], ["https_proxy": "http://me:secret@p.example:3128"], file: nil)
    #expect(end.error?.status == 3 && end.file == nil && !end.printed.contains("secret"))
    #expect(end.error?.nextStep?.text.contains("secret") == false)
    let named = try #require(ProxyVariables(Environment(["https_proxy": "http://me:p@ss@proxy.example:3128/"])))
    #expect(named.place == "http://proxy.example:3128" && named.problem != nil)
    let plain = try #require(ProxyVariables(Environment(["https_proxy": "proxy.example:3128"])))
    #expect(plain.place == "http://proxy.example:3128" && plain.problem == nil)
  }

  @Test(
    "Nor is what cannot be told from its place",
    arguments: [
      "http://me:secret%40p.example:1", "http://me:secret", "me:secret", "http://p.example:1/secret",
      "http://p.example:1?secret", "http://p.example:1#secret", "http://me:x@p.example:secret",
    ])
  func oddPlaces(proxy: String) throws {
    let end = try run(["--yes"], ["https_proxy": proxy], file: nil)
    #expect(end.error?.status == 3 && end.file == nil && !end.printed.contains("secret"))
    #expect(end.error?.nextStep?.text.contains("secret") == false)
  }

  @Test(
    "A password is one whatever stands in it, or is joined to the sign behind it",
    arguments: ["me:se://cret@p.example:1", "http://me:secret@\u{301}p.example:1", "1me:se://cret@p.example:1"])
  func oddSecrets(proxy: String) throws {
    let named = try #require(ProxyVariables(Environment(["https_proxy": proxy])))
    #expect(named.problem != nil && named.place?.contains("cret") != true)
  }

  @Test("A key that may be spelled by escapes is left to its author")
  func escapedKey() {
    var settings = SettingsText("a = 1\n \"pro\\u0078y\" = \"old\"\n")
    let isSet = settings.set("proxy", nil)
    #expect(!isSet && settings.lines.count == 2)
  }

  @Test("A list over several lines is left to its author")
  func severalLines() {
    var settings = SettingsText("no_proxy = [\n  \"a\",\n]\n")
    let isSet = settings.set("no_proxy", nil)
    #expect(!isSet)
    #expect(settings.lines.count == 3)
  }

  /// Runs the command in a folder of its own; gives what was printed and what the file holds then.
  private func run(
    _ arguments: [String], _ variables: [String: String], file: String?, refusal: String? = nil,
    meanwhile: String? = nil
  ) throws -> (error: CommandError?, printed: String, file: String?) {
    var template = Array("/tmp/oauthctl-proxy-XXXXXX".utf8CString)
    let root = try #require(mkdtemp(&template).map { String(cString: $0) })
    let path = root + "/oauthctl/config.toml"
    defer {
      unlink(path)
      rmdir(root + "/oauthctl")
      rmdir(root)
    }
    try FileBytes.makeFolder(root + "/oauthctl")
    if let file { try FileBytes.replace(path, with: Array(file.utf8)) }
    let page = Page()
    let context = CommandContext.scripted(page, variables.merging(["XDG_CONFIG_HOME": root]) { $1 }) { _ in
      if let meanwhile { _ = try? FileBytes.replace(path, with: Array(meanwhile.utf8)) }
      let problems = refusal.map { [ConfigurationProblem(file: path, line: 1, key: "proxy", reason: $0)] }
      return ConfigReloadAnswer(accounts: 0, problems: problems ?? [])
    }
    let command = try SetupCommand.Proxy.parse(arguments)
    var error: CommandError?
    do throws(CommandError) { try command.run(context) } catch let caught { error = caught }
    return (error, page.error, FileBytes.contents(of: path).map { String(decoding: $0, as: UTF8.self) })
  }

  @Test("What is taken over is shown and written")
  func takeOver() throws {
    let end = try run(["--yes"], ["HTTPS_PROXY": "http://p:1", "NO_PROXY": "a"], file: "# mine\n")
    #expect(end.error == nil)
    #expect(end.file == "# mine\nproxy = \"http://p:1\"\nno_proxy = [\"a\"]\n")
    #expect(end.printed.contains("+ proxy = \"http://p:1\""))
  }

  @Test("A dry run writes nothing; neither does a second run")
  func unchanged() throws {
    #expect(try run(["--dry-run"], ["HTTPS_PROXY": "p:1"], file: nil).file == nil)
    let again = try run([], ["HTTPS_PROXY": "p:1"], file: "proxy = \"http://p:1\"\n")
    #expect(again.error == nil && again.printed.contains("already"))
  }

  @Test(
    "Taking it out leaves the rest, with its line ends",
    arguments: [
      ("proxy = \"http://p:1\"\r\nlog_level = \"debug\"\r\n", "log_level = \"debug\"\r\n"),
      ("# mine\r\n\"proxy\" = \"http://p:1\"\r\n", "# mine\r\n"),
    ])
  func removeFromOthersLines(before: String, after: String) throws {
    let end = try run(["--yes", "--remove"], [:], file: before)
    #expect(end.error == nil && end.file == after)
  }

  @Test("Taking it out leaves the rest")
  func remove() throws {
    let end = try run(["--yes", "--remove"], [:], file: "proxy = \"http://p:1\"\nno_proxy = [\"a\"]\n# mine\n")
    #expect(end.error == nil && end.file == "# mine\n")
  }

  @Test("What the agent refuses is taken back", arguments: [nil, "# mine\n"])
  func refused(file: String?) throws {
    let end = try run(["--yes"], ["HTTPS_PROXY": "http://p:1"], file: file, refusal: "it is none that is taken")
    #expect(end.error?.status == 3 && end.error?.sentence?.contains("it is none that is taken") == true)
    #expect(end.file == file)
  }

  @Test("What somebody has written meanwhile stays")
  func changedMeanwhile() throws {
    let end = try run(["--yes"], ["HTTPS_PROXY": "p:1"], file: "# old\n", refusal: "no", meanwhile: "# mine\n")
    #expect(end.error?.status == 3 && end.error?.sentence?.contains("was changed meanwhile, and stays") == true)
    #expect(end.file == "# mine\n")
  }

  @Test("Without a variable there is nothing to take over")
  func nothing() throws {
    #expect(try run(["--yes"], [:], file: nil).error?.status == 64)
  }
}
