import AgentWire
import SystemFacts
import Testing

@testable import AgentClient

@Suite("Whether an agent may be started")
struct StartPolicyTests {
  struct Case: CustomTestStringConvertible {
    var testDescription: String
    var source = SocketLocation.Source.runtimeDirectory
    var environment = ["HOME": "/home/a"]
    var realUID: UInt32 = 1000
    var effectiveUID: UInt32 = 1000
    var home: SocketLocation.FileStatus? = .init(kind: .directory, owner: 1000, mode: 0o755)
    var allowed = false
  }

  static let cases = [
    Case(testDescription: "in an ordinary session", allowed: true),
    Case(
      testDescription: "as root in root's home", environment: ["HOME": "/root", "SUDO_UID": "1000"], realUID: 0,
      effectiveUID: 0, home: .init(kind: .directory, owner: 0, mode: 0o700), allowed: true),
    Case(testDescription: "without a runtime directory", source: .temporary, allowed: true),
    Case(testDescription: "for a named socket", source: .environment),
    Case(testDescription: "with set-user-ID", realUID: 1000, effectiveUID: 0),
    Case(
      testDescription: "with sudo, over the home of the caller", environment: ["HOME": "/home/a", "SUDO_UID": "1000"],
      realUID: 0, effectiveUID: 0),
    Case(testDescription: "over the home of another", home: .init(kind: .directory, owner: 1001, mode: 0o755)),
    Case(
      testDescription: "over a folder of another that a variable names",
      environment: ["HOME": "/home/a", "XDG_STATE_HOME": "/hers/state"]),
    Case(
      testDescription: "over a folder elsewhere", environment: ["HOME": "/home/a", "XDG_STATE_HOME": "/mine/state"],
      allowed: true),
    Case(testDescription: "without HOME", environment: [:]),
    Case(testDescription: "with an empty HOME", environment: ["HOME": ""]),
    Case(testDescription: "with a relative HOME", environment: ["HOME": "home"]),
    Case(testDescription: "with a HOME that is not there", home: nil),
    Case(testDescription: "with a HOME that is a file", home: .init(kind: .other, owner: 1000, mode: 0o644)),
  ]

  @Test("Units are looked for in the manager's usual folders, too, whatever a shell's variables name")
  func unitFolders() {
    let usual = StartPolicy.unitFolders(["HOME": "/h"])
    #expect(usual.first == "/h/.config/systemd/user" && usual.contains("/h/.local/share/systemd/user"))
    let named = StartPolicy.unitFolders(["HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "/d"])
    #expect(named.prefix(2) == ["/c/systemd/user", "/h/.config/systemd/user"])
    #expect(Set(named).subtracting(usual) == ["/c/systemd/user", "/d/systemd/user"] && Set(usual).isSubset(of: named))
  }

  @Test("is decided by rules", arguments: cases)
  func decides(_ example: Case) {
    let refusal = StartPolicy.refusal(
      source: example.source, environment: example.environment, realUID: example.realUID,
      effectiveUID: example.effectiveUID, home: example.home,
      fault: { $0.hasPrefix("/hers") ? .folder("/hers", .owner(1001)) : nil })
    #expect((refusal == nil) == example.allowed)
    if let refusal { #expect(!refusal.reason.isEmpty && !refusal.hint.text.isEmpty) }
  }

  @Test("hands down what the agent needs and nothing else")
  func environment() {
    let given = [
      "HOME": "/h", "USER": "u", "LOGNAME": "u", "LANG": "C", "LC_ALL": "C", "TZ": "UTC", "XDG_RUNTIME_DIR": "/r",
      "XDG_CONFIG_HOME": "/c", "DBUS_SESSION_BUS_ADDRESS": "d", "SSL_CERT_FILE": "f", "SSL_CERT_DIR": "s",
      "PATH": "/bin", "LD_PRELOAD": "x", "GIT_DIR": "x", "HTTPS_PROXY": "x", "OAUTHCTL_SOCKET": "x", "TOKEN": "x",
      "LISTEN_PID": "1", "LISTEN_FDS": "1", "MALLOC_TRACE": "x", "HOMEX": "x",
    ]
    #expect(
      StartPolicy.inherited(given) == [
        "DBUS_SESSION_BUS_ADDRESS=d", "HOME=/h", "LANG=C", "LC_ALL=C", "LOGNAME=u", "SSL_CERT_DIR=s",
        "SSL_CERT_FILE=f", "TZ=UTC", "USER=u", "XDG_CONFIG_HOME=/c", "XDG_RUNTIME_DIR=/r",
      ])
  }
}
