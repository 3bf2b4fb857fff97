import AgentWire
import ArgumentParser
import Glibc
import Synchronization
import Testing

@testable import oauthctl

@Suite("Account files")
struct SettingsFileTests {
  @Test(
    "An issuer is taken as it is typed, from the place of its metadata, too",
    arguments: [
      ("as.example", "https://as.example"), ("http://localhost:1", "http://localhost:1"),
      ("https://as.example/t", "https://as.example/t"),
      ("https://as.example/.well-known/openid-configuration", "https://as.example"),
      ("https://as.example/t/.well-known/openid-configuration", "https://as.example/t"),
      ("as.example/.well-known/oauth-authorization-server", "https://as.example"),
      ("https://as.example/.well-known/oauth-authorization-server/t", "https://as.example/t"),
      ("https://as.example/.well-known/openid-configuration/", "https://as.example"),
      ("https://as.example/.well-known/openid-configurations", "https://as.example/.well-known/openid-configurations"),
    ])
  func typedIssuer(typed: String, issuer: String) { #expect(NewAccount.issuer(typed: typed) == issuer) }

  /// In a new folder, and not written yet.
  private static func fileOfItsOwn() throws -> SettingsFile {
    var template = Array("/tmp/oauthctl-forget-XXXXXX".utf8CString)
    let root = try #require(mkdtemp(&template).map { String(cString: $0) })
    return SettingsFile(path: root + "/work.toml")
  }

  private static func removeFolder(of file: SettingsFile) {
    unlink(file.path)
    rmdir(FileBytes.folder(of: file.path))
  }

  @Test("Whoever forgets a lender is told of its borrowers, be it one or several")
  func borrowers() {
    typealias Forget = AccountCommand.Forget
    #expect(Forget.borrowersLine(["a"], "b") == "a gets its tokens for those of b")
    #expect(Forget.borrowersStep(["a"]).text.contains("in the file of a, or"))
    #expect(Forget.borrowersStep(["a", "c"]).text.contains("in each of their files, or"))
  }

  @Test(
    "What was written is removed as long as it is that, by its bytes and as a file",
    arguments: [nil, "edited before", "replaced before", "edited while the agent forgets"])
  func removedWhileUnchanged(change: String?) throws {
    let file = try Self.fileOfItsOwn()
    defer { Self.removeFolder(of: file) }
    let written = try #require(try file.write("# ours\n"))
    @Sendable func edit() { SettingsFile(path: file.path).append("# mine\n") }
    if change == "edited before" { edit() }
    if change == "replaced before" { try file.write("# ours\n") }
    let asked = Mutex<[Method]>([])
    let context = CommandContext.scripted(Page()) { parameters in
      asked.withLock { $0.append(type(of: parameters).method) }
      if parameters is AccountForget, change == "edited while the agent forgets" { edit() }
      return parameters is AccountForget ? AccountForgetAnswer() : ConfigReloadAnswer(accounts: 0, problems: [])
    }
    do throws(CommandError) {
      let isRemoved = try context.forget(AccountForget(account: "work"), file, while: { file.isStill(written) }) != nil
      #expect(isRemoved == (change == nil) && change?.hasPrefix("edited while") != true)
    } catch {
      #expect(error.sentence == "work is forgotten, but \(file.path) was changed meanwhile, and stays")
      #expect(change?.hasPrefix("edited while") == true)
    }
    #expect(file.exists == (change != nil))
    #expect(
      asked.withLock { $0 }.contains(.accountForget) == (change == nil || change?.hasPrefix("edited while") == true))
  }

  @Test("The file of a login that somebody made while the agent forgot the other stays")
  func loggedInAgain() throws {
    let file = try Self.fileOfItsOwn()
    defer { Self.removeFolder(of: file) }
    try file.write("# ours\n")
    let context = CommandContext.scripted(Page()) { parameters in
      AccountForgetAnswer(login: (parameters as? AccountForget)?.dryRun == true ? "another" : nil)
    }
    let error = #expect(throws: CommandError.self) {
      try context.forget(AccountForget(account: "work"), file, while: { true })
    }
    #expect(error?.sentence?.contains("logged in to work again meanwhile") == true && file.exists)
  }

  @Test("Only what was asked for is written")
  func minimal() {
    let text = NewAccount(issuer: "https://a", clientID: "c").tomlText
    #expect(text.split(separator: "\n").dropFirst() == ["issuer = \"https://a\"", "client_id = \"c\""])
  }

  @Test("Everything that can be said on the command line has its key")
  func whole() throws {
    var template = Array("/tmp/oauthctl-options-XXXXXX".utf8CString)
    let folder = try #require(mkdtemp(&template).map { String(cString: $0) })
    defer {
      unlink(folder + "/ca.pem")
      rmdir(folder)
    }
    try SettingsFile(path: folder + "/ca.pem").write("-----BEGIN CERTIFICATE-----\n")
    let words = [
      "login", "work", "a.example", "--client-id", "c", "--grant", "device", "--scope", "x y", "--scope", "z", "--port",
      "8914", "--redirect-path", "/cb", "--ca", "ca.pem", "--param", "prompt=consent", "--param", "a b=c=d",
      "--authorization-endpoint", "https://a/a", "--token-endpoint", "https://a/t", "--username", "u", "--resource",
      "https://r", "--audience", "au", "--host", "h1", "--host", "h2", "--git-username", "g",
      "--client-authentication", "private-key-jwt", "--assertion-audience", "token-endpoint",
    ]
    let command = try #require(try Oauthctl.parseAsRoot(words) as? LoginCommand)
    let account = try #require(try command.options.account(issuer: command.issuer, workingFolder: folder))
    #expect(
      account.tomlText.split(separator: "\n", omittingEmptySubsequences: false).dropFirst().joined(separator: "\n")
        == """
        issuer = "https://a.example"
        client_id = "c"
        client_authentication = "private_key_jwt"
        assertion_audience = "token_endpoint"
        grant = "device_code"
        scope = ["x", "y", "z"]
        resource = ["https://r"]
        audience = ["au"]
        redirect_uri = "http://127.0.0.1:8914/cb"
        hosts = ["h1", "h2"]
        authorization_endpoint = "https://a/a"
        token_endpoint = "https://a/t"
        username = "u"
        ca_file = "\(folder)/ca.pem"
        git_username = "g"

        [authorize_parameters]
        prompt = "consent"
        "a b" = "c=d"

        """)
  }

  @Test(
    "No value can end its string or its line",
    arguments: [
      ("", #""""#), ("a\"b", #""a\"b""#), ("a\\", #""a\\""#), ("a\nissuer = \"x\"", #""a\nissuer = \"x\"""#),
      ("a\u{0}b\u{1F}\u{7F}", #""a\u0000b\u001F\u007F""#), ("\u{202E}x\u{200B}", #""\u202Ex\u200B""#),
      ("é€😀", "\"é€😀\""), ("\u{E0001}", #""\U000E0001""#), ("a\r\nb\t", #""a\r\nb\t""#), ("\u{9B}", #""\u009B""#),
    ])
  func quoting(value: String, text: String) { #expect(TOMLText.string(value) == text) }

  @Test(
    "A key is quoted unless it is bare",
    arguments: [("a-b_1", "a-b_1"), ("", "\"\""), ("a.b", "\"a.b\""), ("a]\n", #""a]\n""#), ("ä", "\"ä\"")])
  func keys(name: String, text: String) { #expect(TOMLText.key(name) == text) }

  @Test(
    "Command lines that make no sense for an account are usage errors",
    arguments: [
      ["login", "a", "https://i"], ["login", "a", "--scope", "x"], ["login", "a", "--client-id", "c"],
      ["login", "a", "https://i", "--client-id", "c", "--grant", "implicit"],
      ["login", "a", "https://i", "--client-id", "c", "--grant", "magic"],
      ["login", "a", "https://i", "--client-id", "c", "--grant", "password"],
      ["login", "a", "https://i", "--client-id", "c", "--device", "--grant", "password", "--username", "u"],
      ["login", "a", "https://i", "--client-id", "c", "--redirect-path", "x"],
      ["login", "a", "https://i", "--client-id", "c", "--redirect-path", "/a b"],
      ["login", "a", "https://i", "--client-id", "c", "--param", "x"],
      ["login", "a", "https://i", "--client-id", "c", "--param", "x=1", "--param", "x=2"],
      ["login", "a", "--authorization-endpoint", "https://i/a", "--client-id", "c"],
    ])
  func refused(words: [String]) throws {
    let command = try #require(try Oauthctl.parseAsRoot(words) as? LoginCommand)
    let error = #expect(throws: CommandError.self) {
      try command.options.account(issuer: command.issuer, workingFolder: "/")
    }
    #expect(error?.status == 64)
  }

  @Test("A path is whole in the file, and a tilde that no shell has read means the home folder")
  func paths() {
    for (typed, path) in [("/a", "/a"), ("a", "/w/a"), ("~/a", "/h/a"), ("~a", "/w/~a"), ("a/~/b", "/w/a/~/b")] {
      #expect(LoginOptions.absolute(typed, in: "/w", home: "/h") == path)
    }
    #expect(LoginOptions.absolute("~/a", in: "/w", home: nil) == "/w/~/a")
  }

  @Test("The implicit grant is refused with what to use instead")
  func implicit() {
    let error = #expect(throws: CommandError.self) { try LoginOptions.grant("implicit", device: false) }
    #expect(error?.nextStep?.text.contains("authorization_code") == true)
  }

  @Test("Endpoints alone give the issuer, and a login without an issuer makes no account")
  func issuers() throws {
    let words = [
      "login", "a", "--client-id", "c", "--authorization-endpoint", "https://i:1/a", "--token-endpoint",
      "https://i:1/t?x",
    ]
    let command = try #require(try Oauthctl.parseAsRoot(words) as? LoginCommand)
    #expect(try command.options.account(issuer: nil, workingFolder: "/")?.issuer == "https://i:1")
    let again = try #require(try Oauthctl.parseAsRoot(["login", "a", "--device"]) as? LoginCommand)
    #expect(try again.options.account(issuer: nil, workingFolder: "/") == nil)
  }

  @Test(
    "What names an issuer is an account's file",
    arguments: [
      ("issuer = \"https://h\"\n", true), ("# mine\nclient_id = \"c\"\n\"issuer\"=\"https://h\"\n", true), ("", false),
      ("#!/bin/sh\necho issuer\n", false), ("# issuer = \"https://h\"\n", false), ("issuers = 1\n", false),
    ])
  func isAccount(text: String, isAccount: Bool) { #expect(SettingsFile.isAccount(text) == isAccount) }

  @Test("Behind a link the file is replaced: it is told, the link stays, and so does the file's mode")
  func link() throws {
    var template = Array("/tmp/oauthctl-test.XXXXXX".utf8CString)
    let folder = try #require(mkdtemp(&template).map { String(cString: $0) })
    let (link, target) = (SettingsFile(path: folder + "/a.toml"), folder + "/mine")
    #expect(link.linkTarget == nil)
    try #require(symlink(target, link.path) == 0)
    // It leads nowhere yet.
    #expect(link.linkTarget == nil && link.exists)
    #expect(throws: CommandError.self) { try link.write("new") }
    try FileBytes.replace(target, with: Array("old".utf8))
    #expect(chmod(target, 0o751) == 0)
    let place = try #require(FileBytes.realPath(of: target))
    #expect(link.linkTarget == place)
    #expect(link.name(in: Environment([:])) == "\(link.path) (a link to \(place))")
    try link.write("new", behind: place)
    #expect(link.linkTarget == place && FileBytes.contents(of: target) == Array("new".utf8))
    var about = stat()
    let found = stat(target, &about)
    #expect(found == 0 && about.st_mode & 0o777 == 0o751)
    for path in [link.path, target, folder] { remove(path) }
  }

  @Test("The folder behind a link is exchanged after it was looked at: what is there by then is not replaced")
  func exchanged() throws {
    var template = Array("/tmp/oauthctl-test.XXXXXX".utf8CString)
    let made = try #require(mkdtemp(&template).map { String(cString: $0) })
    let folder = try #require(FileBytes.realPath(of: made))
    let (link, place, other) = (SettingsFile(path: folder + "/a.toml"), folder + "/place", folder + "/other")
    for (name, text) in [(place, "mine"), (other, "precious")] {
      try FileBytes.makeFolder(name)
      try FileBytes.replace(name + "/mine", with: Array(text.utf8))
    }
    try #require(symlink(place + "/mine", link.path) == 0)
    let (target, mine) = (link.linkTarget, try #require(link.current))
    // The same file is read by another way, and another one is at the path.
    try #require(rename(place, folder + "/before") == 0 && symlink(other, place) == 0)
    try #require(unlink(link.path) == 0 && symlink(folder + "/before/mine", link.path) == 0)
    #expect(throws: CommandError.self) { try link.write("new", behind: target, while: { link.isStill(mine) }) }
    #expect(FileBytes.contents(of: other + "/mine") == Array("precious".utf8))
    #expect(FileBytes.names(in: other) == ["mine"] && link.text == "mine")
    for path in ["/before/mine", "/before", "/other/mine", "/other", "/place", "/a.toml", ""] { remove(folder + path) }
  }

  @Test(
    "Account files have one place",
    arguments: [
      (["HOME": "/h"], "/h/.config/oauthctl/accounts.d/a.toml"),
      (["HOME": "/h", "XDG_CONFIG_HOME": "/x"], "/x/oauthctl/accounts.d/a.toml"),
      (["HOME": "/h", "XDG_CONFIG_HOME": "x"], "/h/.config/oauthctl/accounts.d/a.toml"), ([:], nil),
    ] as [([String: String], String?)])
  func place(variables: [String: String], path: String?) {
    #expect((try? SettingsFile(account: "a", in: Environment(variables)).path) == path)
  }
}

extension SettingsFile {
  /// As an editor does that writes in place.
  fileprivate func append(_ text: String) {
    let descriptor = open(path, O_WRONLY | O_APPEND)
    FileBytes.writeAll(Array(text.utf8), to: descriptor)
    close(descriptor)
  }
}
