import AgentCore
import AgentWire
import Glibc
import Logging
import Testing

@testable import AgentRuntime

@Suite("Configuration files")
struct FileConfigurationTests {
  private let scratch: ScratchFolder
  private let configuration: FileConfiguration
  private let good = "issuer = \"https://id.example\"\nclient_id = \"abc\"\n"

  init() throws {
    scratch = try ScratchFolder()
    mkdir(scratch.path + "/accounts.d", 0o700)
    configuration = FileConfiguration(
      folder: ConfigurationFolder(path: scratch.path, home: scratch.path), uid: getuid())
  }

  private func reasons() -> [String] { configuration.read().problems.map(\.reason) }

  private func steps() -> [NextStep] { configuration.read().problems.map(\.nextStep) }

  @Test("Accounts are read in the order of their names; what editors leave behind is not")
  func load() throws {
    for name in ["b.toml", "a.toml", ".a.toml.swp", "a.toml~", "README", ".hidden.toml"] {
      try scratch.write("accounts.d/" + name, good)
    }
    try scratch.write("accounts.d/Upper.toml", good)
    let found = configuration.read()
    #expect(found.definitions.map(\.name) == ["a", "b"])
    #expect(found.definitions.first?.file == scratch.path + "/accounts.d/a.toml")
    #expect(found.problems.map(\.reason) == [AccountFileName.rule])
  }

  @Test("Without the folder there is no account and no problem")
  func noFolder() {
    rmdir(scratch.path + "/accounts.d")
    let found = configuration.read()
    #expect(found.definitions.isEmpty && found.problems.isEmpty)
  }

  @Test("Accounts of the usual folder are known by name where another one is read, and nothing else of them")
  func usualFolder() throws {
    try scratch.write("accounts.d/a.toml", good)
    for folder in ["/.config", "/.config/oauthctl", "/.config/oauthctl/accounts.d"] {
      mkdir(scratch.path + folder, 0o700)
    }
    try scratch.write(".config/oauthctl/accounts.d/b.toml", "what is no TOML")
    let found = configuration.read()
    #expect(found.definitions.map(\.name) == ["a"] && found.problems.isEmpty)
    #expect(
      found.folders
        == AccountFolders(
          read: scratch.path + "/accounts.d", usual: scratch.path + "/.config/oauthctl/accounts.d", inUsual: ["b"]))
    let usual = FileConfiguration(
      folder: ConfigurationFolder(path: scratch.path + "/.config/oauthctl", home: scratch.path), uid: getuid())
    #expect(usual.read().folders == AccountFolders(read: scratch.path + "/.config/oauthctl/accounts.d"))
  }

  @Test("One bad file leaves the others")
  func oneBad() throws {
    try scratch.write("accounts.d/a.toml", "issuer = ")
    try scratch.write("accounts.d/b.toml", good)
    let found = configuration.read()
    #expect(found.definitions.map(\.name) == ["b"])
    #expect(found.problems.map(\.file) == [scratch.path + "/accounts.d/a.toml"])
    #expect(found.problems.first?.line == 1)
  }

  @Test("A changed file is read anew, an unchanged one gives the same")
  func changes() throws {
    try scratch.write("accounts.d/a.toml", good)
    #expect(configuration.read().definitions == configuration.read().definitions)
    try scratch.write("accounts.d/a.toml", good.replacing("abc", with: "xyz"))
    #expect(configuration.read().definitions.map(\.clientID) == ["xyz"])
    unlink(scratch.path + "/accounts.d/a.toml")
    #expect(configuration.read().definitions.isEmpty)
  }

  @Test("A symbolic link is followed, a dangling one is told")
  func links() throws {
    try scratch.write("elsewhere", good)
    symlink("../elsewhere", scratch.path + "/accounts.d/a.toml")
    symlink("../nothing", scratch.path + "/accounts.d/b.toml")
    let found = configuration.read()
    #expect(found.definitions.map(\.name) == ["a"])
    #expect(found.problems.map(\.reason) == ["the file does not exist"])
  }

  @Test(
    "A file or folder that others may write is refused, with what to do", arguments: [0o620, 0o602, 0o666] as [mode_t])
  func writable(_ mode: mode_t) throws {
    try scratch.write("accounts.d/a.toml", good, mode: mode)
    #expect(reasons() == ["the file may be written by others (mode \(String(mode, radix: 8)))"])
    #expect(steps() == [.run("chmod go-w \(scratch.path)/accounts.d/a.toml")])
    chmod(scratch.path + "/accounts.d", 0o777)
    #expect(reasons() == ["the folder may be written by others (mode 777)"])
    #expect(steps() == [.run("chmod go-w \(scratch.path)/accounts.d")])
  }

  @Test("A folder above that others may write is refused, and the one that a link leads to, but no sticky one")
  func folderAbove() throws {
    try scratch.write("accounts.d/a.toml", good)
    chmod(scratch.path, 0o777)
    let folder = String(cString: realpath(scratch.path, nil))
    let refused = "the folder is in \(folder), which may be written by others (mode 777)"
    #expect(reasons() == [refused])
    chmod(scratch.path, 0o1777)
    #expect(reasons() == [])
    // Whoever may write it makes a link of the folder in it, to files of yours elsewhere.
    chmod(scratch.path, 0o700)
    mkdir(scratch.path + "/checkout", 0o700)
    rename(scratch.path + "/accounts.d", scratch.path + "/checkout/accounts")
    symlink("checkout/accounts", scratch.path + "/accounts.d")
    #expect(reasons() == [])
    chmod(scratch.path, 0o777)
    #expect(reasons() == [refused])
    chmod(scratch.path, 0o700)
    unlink(scratch.path + "/accounts.d")
    rename(scratch.path + "/checkout/accounts", scratch.path + "/accounts.d")
    mkdir(scratch.path + "/open", 0o700)
    try scratch.write("open/b.toml", good)
    symlink("../open/b.toml", scratch.path + "/accounts.d/b.toml")
    #expect(reasons() == [])
    chmod(scratch.path + "/open", 0o777)
    #expect(reasons() == ["the file is in \(folder)/open, which may be written by others (mode 777)"])
  }

  @Test(
    "Every folder on the way counts, from the first one down: who may write one puts a link to other files of yours there"
  )
  func wayAbove() throws {
    let folder = String(cString: realpath(scratch.path, nil))
    for name in ["/home", "/home/.config", "/home/.config/oauthctl"] { mkdir(folder + name, 0o700) }
    mkdir(folder + "/elsewhere", 0o700)
    try scratch.write("elsewhere/config.toml", "proxy = \"http://evil.example:1\"\n")
    let configuration = FileConfiguration(
      folder: ConfigurationFolder(path: folder + "/home/.config/oauthctl", home: folder + "/home"), uid: getuid())
    rmdir(folder + "/home/.config/oauthctl")
    symlink("../../elsewhere", folder + "/home/.config/oauthctl")
    #expect(configuration.read().problems.isEmpty)
    for open in [folder + "/home", folder + "/home/.config"] {
      chmod(open, 0o777)
      let told = configuration.read().problems
      #expect(told.first?.reason.hasSuffix("is in \(open), which may be written by others (mode 777)") == true)
      #expect(told.first?.nextStep == .run("chmod go-w \(open)"))
      chmod(open, 0o1777)
      #expect(configuration.read().problems.isEmpty)
      chmod(open, 0o700)
    }
  }

  @Test("A file of another user is refused")
  func foreign() throws {
    // Seen from another user: the file is ours, so neither theirs nor, unless we are root, root's.
    try scratch.write("accounts.d/a.toml", good)
    #expect(throws: Never.self) {
      try TrustedFile.read(scratch.path + "/accounts.d/a.toml", uid: getuid(), limitBytes: 100)
    }
    guard getuid() == 0 else {
      #expect(throws: TrustedFile.Failure.self) {
        try TrustedFile.read(scratch.path + "/accounts.d/a.toml", uid: getuid() + 1, limitBytes: 100)
      }
      return
    }
    chown(scratch.path + "/accounts.d/a.toml", 4_711, 0)
    #expect(reasons() == ["the file belongs to another user (uid 4711)"])
    let problem = configuration.read().problems.first
    #expect(problem?.nextStep == .run("sudo chown 0: \(scratch.path)/accounts.d/a.toml"))
  }

  @Test("What is no regular file is refused at once, a FIFO too")
  func kinds() {
    mkfifo(scratch.path + "/accounts.d/a.toml", 0o600)
    mkdir(scratch.path + "/accounts.d/b.toml", 0o700)
    symlink("/dev/zero", scratch.path + "/accounts.d/c.toml")
    #expect(reasons() == Array(repeating: "the file is not a regular file", count: 3))
  }

  @Test("A file of 64 KiB is read, one byte more is not")
  func size() throws {
    try scratch.write("accounts.d/a.toml", good + String(repeating: "#", count: (64 << 10) - good.utf8.count))
    try scratch.write("accounts.d/b.toml", good + String(repeating: "#", count: (64 << 10) - good.utf8.count + 1))
    let found = configuration.read()
    #expect(found.definitions.map(\.name) == ["a"])
    #expect(found.problems.map(\.reason) == ["the file is larger than 65536 bytes"])
  }

  @Test("The digest of a private certificate authority follows its file")
  func certificateDigest() throws {
    try scratch.write("ca.pem", "one")
    try scratch.write("accounts.d/a.toml", good + "ca_file = \"~/ca.pem\"\n")
    let first = configuration.read().definitions.first
    #expect(first?.certificateAuthorityFile == scratch.path + "/ca.pem")
    #expect(first?.certificateAuthorityDigest == "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed")
    try scratch.write("ca.pem", "two")
    let second = configuration.read().definitions.first
    #expect(second?.certificateAuthorityDigest != nil)
    #expect(second?.certificateAuthorityDigest != first?.certificateAuthorityDigest)
    unlink(scratch.path + "/ca.pem")
    let problem = configuration.read().problems.first
    #expect(problem?.key == "ca_file" && problem?.line == 3)
  }

  @Test("The agent's settings")
  func settings() throws {
    #expect(configuration.settings().settings == AgentSettings())
    #expect(configuration.settings().problems.isEmpty)
    try scratch.write(
      "config.toml",
      "proxy = \"socks5h://[::1]:9050\"\nno_proxy = \".internal localhost 10.0.0.1 10.0.0.0/8\"\n"
        + "ca_file = \"/etc/ca.pem\"\nallow_network_home = true\nlog_level = \"debug\"\n"
        + "client_metadata_url = \"https://www.example.com/oauthctl.json\"\n")
    let (settings, problems) = configuration.settings()
    #expect(problems.isEmpty)
    #expect(settings.proxy == "socks5h://[::1]:9050")
    #expect(settings.noProxy == [".internal", "localhost", "10.0.0.1", "10.0.0.0/8"])
    #expect(settings.certificateAuthorityFile == "/etc/ca.pem")
    #expect(settings.clientMetadataURL == "https://www.example.com/oauthctl.json")
    #expect(settings.allowsNetworkHome && settings.logLevel == .debug)
  }

  @Test("What is logged follows each reading of config.toml, unless the command line says; other words are refused")
  func logLevel() throws {
    let (free, fixed) = (LogThreshold(commandLine: nil), LogThreshold(commandLine: .notice))
    let configuration = FileConfiguration(folder: configuration.folder, uid: getuid()) { settings in
      free.follow(settings)
      fixed.follow(settings)
    }
    #expect(free.level == .info)
    try scratch.write("config.toml", "log_level = \"error\"\n")
    #expect(configuration.read().problems.isEmpty && free.level == .error)
    try scratch.write("config.toml", "log_level = \"warn\"\n")
    #expect(configuration.read().problems.map(\.key) == ["log_level"] && free.level == .error)
    unlink(scratch.path + "/config.toml")
    #expect(configuration.read().problems.isEmpty && free.level == .info)
    #expect(fixed.level == .notice)
  }

  @Test("The settings in force are the last good ones")
  func currentSettings() throws {
    #expect(configuration.current == AgentSettings())
    try scratch.write("config.toml", "proxy = \"http://proxy.example:3128\"\n")
    #expect(configuration.read().problems.isEmpty)
    #expect(configuration.current.proxy == "http://proxy.example:3128")
    try scratch.write("config.toml", "proxy = \"http://proxy.ex")
    #expect(configuration.read().problems.map(\.file) == [scratch.path + "/config.toml"])
    #expect(configuration.current.proxy == "http://proxy.example:3128")
    unlink(scratch.path + "/config.toml")
    #expect(configuration.read().problems.isEmpty)
    #expect(configuration.current == AgentSettings())
    // A file that was read before is not parsed again, and counts all the same.
    for _ in 1...2 {
      try scratch.write("config.toml", "proxy = \"http://proxy.example:3128\"\n")
      #expect(configuration.read().problems.isEmpty)
      #expect(configuration.current.proxy == "http://proxy.example:3128")
      unlink(scratch.path + "/config.toml")
      #expect(configuration.read().problems.isEmpty && configuration.current == AgentSettings())
    }
  }

  @Test("The authority of config.toml counts for accounts that name none, and is bound with them")
  func commonAuthority() throws {
    try scratch.write("common.pem", "one")
    try scratch.write("own.pem", "two")
    try scratch.write("accounts.d/a.toml", good)
    try scratch.write("accounts.d/b.toml", good + "ca_file = \"\(scratch.path)/own.pem\"\n")
    try scratch.write("config.toml", "ca_file = \"\(scratch.path)/common.pem\"\n")
    let found = configuration.read()
    #expect(found.problems.isEmpty)
    #expect(found.definitions.map(\.certificateAuthorityFile) == ["/common.pem", "/own.pem"].map { scratch.path + $0 })
    #expect(found.definitions.allSatisfy { $0.certificateAuthorityDigest != nil })
    unlink(scratch.path + "/common.pem")
    let problem = configuration.read().problems.first
    #expect(problem?.file == scratch.path + "/config.toml" && problem?.line == 1 && problem?.key == "ca_file")
    #expect(problem?.accountName == "a" && problem?.reason == "\(scratch.path)/common.pem does not exist")
  }

  @Test(
    "What is wrong in the settings is named",
    arguments: [
      ("\nproxys = 1\n", 2, "proxys", "did you mean proxy?"),
      ("proxy = 1\n", 1, "proxy", "must be a string"),
      ("allow_network_home = \"true\"\n", 1, "allow_network_home", "must be true or false"),
      ("no_proxy = [\"a/b\"]\n", 1, "no_proxy", "no host"),
      ("no_proxy = [\"10.0.0.0/33\"]\n", 1, "no_proxy", "no host"),
      ("no_proxy = [\"10.0/8\"]\n", 1, "no_proxy", "no host"),
      ("password = \"x\"\n", 1, "password", "secrets do not belong"),
      ("client_metadata_url = \"http://127.0.0.1/c\"\n", 1, "client_metadata_url", "must begin with https://"),
    ] as [(String, Int, String, String)])
  func badSettings(_ text: String, _ line: Int, _ key: String, _ reason: String) throws {
    try scratch.write("config.toml", text)
    let problems = configuration.settings().problems
    #expect(problems.map(\.line) == [line])
    #expect(problems.map(\.key) == [key])
    #expect(problems.first?.reason.contains(reason) == true)
    #expect(problems.first?.file == scratch.path + "/config.toml")
  }
}
