import AgentWire
import Testing

@testable import AgentRuntime

@Suite("Where the agent's files are")
struct AgentPathsTests {
  private static func folder(_ owner: UInt32 = 7, _ mode: UInt32 = 0o700) -> SocketLocation.FileStatus {
    SocketLocation.FileStatus(kind: .directory, owner: owner, mode: mode)
  }

  @Test(
    "What the vault cannot write is kept where the socket is, with XDG_RUNTIME_DIR and without, and beside the state",
    arguments: [
      ("/run/user/7", ["/run/user/7"], ["/run/user/7/oauthctl"]),
      (nil, ["/run/user/7"], ["/run/user/7/oauthctl"]),
      ("/mine", ["/mine", "/run/user/7"], ["/mine/oauthctl", "/run/user/7/oauthctl"]),
      ("/mine", ["/mine", "/tmp/oauthctl-7"], ["/mine/oauthctl", "/tmp/oauthctl-7"]),
      ("/mine", ["/mine"], ["/mine/oauthctl", "/tmp/oauthctl-7"]), (nil, [], ["/tmp/oauthctl-7"]),
      // Of another user, after su.
      ("/run/user/8", ["/run/user/7"], ["/run/user/7/oauthctl"]),
    ])
  func aside(runtime: String?, ours: [String], folders: [String]) throws {
    let paths = try AgentPaths(environment: ["HOME": "/home/me"])
    let found = paths.asideDirectories(runtimeDirectory: runtime, uid: 7) { path in
      ours.contains(path) ? Self.folder() : path == "/run/user/8" ? Self.folder(8) : nil
    }
    #expect(found == folders + ["/home/me/.local/state/oauthctl"])
  }

  @Test("What was kept where others may write by now is found, last of all")
  func opened() throws {
    let paths = try AgentPaths(environment: ["HOME": "/home/me"])
    let found = paths.asideDirectories(runtimeDirectory: "/mine/", uid: 7) { path in
      ["/mine/", "/run/user/7"].contains(path) ? Self.folder(7, 0o770) : nil
    }
    #expect(found == ["/tmp/oauthctl-7", "/home/me/.local/state/oauthctl", "/mine/oauthctl", "/run/user/7/oauthctl"])
  }

  @Test("A folder in /tmp that is another user's is left alone")
  func foreign() throws {
    let paths = try AgentPaths(environment: ["HOME": "/home/me"])
    let found = paths.asideDirectories(runtimeDirectory: nil, uid: 7) { $0 == "/tmp/oauthctl-7" ? Self.folder(8) : nil }
    #expect(found == ["/home/me/.local/state/oauthctl"])
  }
}
