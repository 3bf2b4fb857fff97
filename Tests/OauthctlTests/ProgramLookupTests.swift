import AgentWire
import Glibc
import Testing

@testable import oauthctl

@Suite("Where programs come from")
struct ProgramLookupTests {
  typealias Status = SocketLocation.FileStatus

  /// The owner is user 7; `changes` are folders and programs that are not as they should be, `links` where whole paths
  /// lead.
  static func lookup(
    _ path: String?, _ changes: [String: Status] = [:], links: [String: String] = [:]
  ) -> ProgramLookup {
    let folder = Status(kind: .directory, owner: 0, mode: 0o755)
    let program = Status(kind: .other, owner: 0, mode: 0o755)
    let own = Status(kind: .directory, owner: 7, mode: 0o700)
    var files: [String: Status] = [
      "/": folder, "/usr": folder, "/usr/bin": folder, "/home": folder, "/home/u": own, "/home/u/bin": own,
      "/a": folder, ".": folder, "bin": folder, "/tmp": Status(kind: .directory, owner: 0, mode: 0o1777),
      "/tmp/own": own, "/evil": Status(kind: .directory, owner: 8, mode: 0o755), "/evil/bin": folder,
      "/tmp/own/curl": program,
      "/evil/bin/curl": program,
    ]
    for place in ["/usr/bin", "/home/u/bin", "/a", ".", "bin", ""] { files["\(place)/curl"] = program }
    files.merge(changes) { $1 }
    let found = files
    return ProgramLookup(
      path: path, userID: 7, status: { found[$0] },
      realPath: { path in links[path] ?? (found[path] == nil ? nil : path) }, isExecutable: { found[$0] != nil })
  }

  @Test(
    "PATH counts where it is absolute",
    arguments: [
      ("/a:/usr/bin", "/a/curl"), (".:/usr/bin", "/usr/bin/curl"), (":/usr/bin", "/usr/bin/curl"),
      ("bin:/usr/bin", "/usr/bin/curl"), ("/usr/bin:", "/usr/bin/curl"), (".", nil), ("", nil), ("bin::.", nil),
      ("/home/u/bin:/usr/bin", "/home/u/bin/curl"), ("/nowhere:/usr/bin", "/usr/bin/curl"), (nil, "/usr/bin/curl"),
    ] as [(String?, String?)])
  func absolute(path: String?, found: String?) { #expect(Self.lookup(path).find("curl") == found) }

  @Test(
    "A folder that others own or may write to is passed over, and so is a program",
    arguments: [
      ("/a", Status(kind: .directory, owner: 0, mode: 0o757)), ("/a", Status(kind: .directory, owner: 0, mode: 0o775)),
      ("/a", Status(kind: .directory, owner: 0, mode: 0o1777)), ("/a", Status(kind: .directory, owner: 8, mode: 0o755)),
      ("/a", Status(kind: .other, owner: 0, mode: 0o755)), ("/a/curl", Status(kind: .other, owner: 8, mode: 0o755)),
      ("/a/curl", Status(kind: .other, owner: 7, mode: 0o777)),
      ("/a/curl", Status(kind: .directory, owner: 0, mode: 0o755)),
    ])
  func trusted(path: String, status: Status) {
    let lookup = Self.lookup("/a:/usr/bin", [path: status])
    #expect(lookup.find("curl") == "/usr/bin/curl")
    #expect(lookup.folders == (path == "/a" ? ["/usr/bin"] : ["/a", "/usr/bin"]))
  }

  @Test("A folder above counts, whatever sign the name below begins with", arguments: ["x", "\u{301}x"])
  func above(name: String) {
    let folder = Status(kind: .directory, owner: 7, mode: 0o755)
    let program = Status(kind: .other, owner: 7, mode: 0o755)
    let lookup = Self.lookup(
      "/pub/\(name):/usr/bin",
      [
        "/pub": Status(kind: .directory, owner: 7, mode: 0o777), "/pub/\(name)": folder, "/pub/\(name)/curl": program,
      ])
    #expect(lookup.find("curl") == "/usr/bin/curl")
    // And of a file whose own name begins with one.
    let file = Self.lookup(
      "/usr/bin", ["/pub": .init(kind: .directory, owner: 7, mode: 0o777), "/pub/\(name)": program])
    #expect(file.trustedFile("/pub/\(name)") == nil)
  }

  @Test(
    "Links are followed before anything is looked at, and what is started is where they lead",
    arguments: [
      // A folder: to one of the system's, to one below somebody else's, to one of the own in everybody's folder.
      ("/link", ["/link": "/a"], "/a/curl", ["/a"]), ("/link", ["/link": "/evil/bin"], nil, []),
      ("/evil/link:/usr/bin", ["/evil/link": "/usr/bin"], "/usr/bin/curl", ["/usr/bin"]),
      ("/tmp/own", [:], "/tmp/own/curl", ["/tmp/own"]), ("/tmp", ["/tmp/curl": "/a/curl"], nil, []),
      ("/a:/link:/a", ["/link": "/a"], "/a/curl", ["/a"]),
      // The program.
      ("/a", ["/a/curl": "/tmp/own/curl"], "/tmp/own/curl", ["/a"]),
      ("/a:/usr/bin", ["/a/curl": "/evil/bin/curl"], "/usr/bin/curl", ["/a", "/usr/bin"]),
    ] as [(String, [String: String], String?, [String])])
  func links(path: String, links: [String: String], found: String?, folders: [String]) {
    let lookup = Self.lookup(path, links: links)
    #expect(lookup.find("curl") == found)
    #expect(lookup.folders == folders)
  }

  @Test(
    "A folder counts where nobody else can put another one in its place",
    arguments: [
      ("/home/u/bin", "/home/u", Status(kind: .directory, owner: 8, mode: 0o755)),
      ("/home/u/bin", "/home/u", Status(kind: .directory, owner: 7, mode: 0o777)),
      ("/home/u/bin", "/home/u", Status(kind: .directory, owner: 7, mode: 0o770)),
      ("/home/u/bin", "/home/u", Status(kind: .symbolicLink, owner: 7, mode: 0o777)),
      ("/home/u/bin", "/home", Status(kind: .directory, owner: 8, mode: 0o1777)),
      ("/tmp/own", "/tmp", Status(kind: .directory, owner: 0, mode: 0o777)),
      ("/evil/bin", "/home", Status(kind: .directory, owner: 0, mode: 0o755)),
    ])
  func above(path: String, changed: String, status: Status) {
    #expect(Self.lookup(path, [changed: status]).folders == [])
    #expect(Self.lookup("/home/u/bin").folders == ["/home/u/bin"])
  }

  @Test(
    "No way leads through procfs, by which the folder one is in has other names",
    arguments: ["/proc/self/root/usr/bin", "/dev/fd/../root/usr/bin", "/proc/self/cwd", "/proc/self"])
  func procfs(path: String) throws {
    #expect(ProgramLookup.live(Environment(["PATH": "/usr/bin"])).folders == ["/usr/bin"])
    #expect(ProgramLookup.live(Environment(["PATH": path])).folders == [])
    let link = "/tmp/oauthctl-test-\(UInt64.random(in: 0 ... .max))"
    try #require(symlink(path, link) == 0)
    defer { unlink(link) }
    #expect(ProgramLookup.live(Environment(["PATH": link])).folders == [])
    #expect(ProgramLookup.place(of: path) == nil && ProgramLookup.place(of: link) == nil)
  }

  @Test("Who owns the root of the tree stands for root: in a user namespace it is another number")
  func namespace() {
    let strange: [String: Status] = [
      "/": Status(kind: .directory, owner: 65_534, mode: 0o755),
      "/usr": Status(kind: .directory, owner: 65_534, mode: 0o755),
      "/usr/bin": Status(kind: .directory, owner: 65_534, mode: 0o755),
      "/usr/bin/curl": Status(kind: .other, owner: 65_534, mode: 0o755),
    ]
    #expect(Self.lookup("/usr/bin", strange).find("curl") == "/usr/bin/curl")
  }

  @Test(
    "A program that is named by its path is taken as it is where the path is absolute",
    arguments: [("/a/curl", "/a/curl"), ("./curl", nil), ("bin/curl", nil), ("/a/none", nil), ("", nil)])
  func named(name: String, found: String?) { #expect(Self.lookup("/usr/bin").find(name) == found) }
}
