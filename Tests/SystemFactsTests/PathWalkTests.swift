import Foundation
import SystemFacts
import Testing

@Suite("The way that a path leads")
struct PathWalkTests {
  private let links = [
    "/bin": "usr/bin", "/here": "/proc/self/cwd", "/home/u/up": "../..", "/home/u/far": "/bin/../lib", "/loop": "/loop",
    "/home/u/dot": "./a//b/", "/empty": "",
  ]
  private let files: Set<String> = [
    "/usr", "/usr/bin", "/usr/lib", "/usr/bin/curl", "/home", "/home/u", "/home/u/a", "/home/u/a/b", "/home/u/a/b/c",
    "/proc", "/proc/7", "/cwd",
  ]

  private func walk(_ path: String) -> PathWalk? {
    var links = links
    links["/proc/self"] = "7"
    links["/proc/7/cwd"] = "/cwd"
    return PathWalk(path) { path in links[path].map { .link(target: $0) } ?? (files.contains(path) ? .other : nil) }
  }

  @Test(
    "Links are followed where they stand, and every folder on the way is named",
    arguments: [
      ("/", "/", [], []), ("/usr/bin/curl", "/usr/bin/curl", ["/", "/usr", "/usr/bin"], []),
      ("/bin/curl", "/usr/bin/curl", ["/", "/usr", "/usr/bin"], ["/bin"]),
      ("//usr/./bin/../lib/", "/usr/lib", ["/", "/usr", "/usr/bin"], []), ("/..", "/", ["/"], []),
      ("/home/u/up/cwd", "/cwd", ["/", "/home", "/home/u"], ["/home/u/up"]),
      ("/home/u/dot/c", "/home/u/a/b/c", ["/", "/home", "/home/u", "/home/u/a", "/home/u/a/b"], ["/home/u/dot"]),
      (
        "/home/u/far", "/usr/lib", ["/", "/home", "/home/u", "/usr", "/usr/bin"], ["/home/u/far", "/bin"]
      ),
      ("/here", "/cwd", ["/", "/proc", "/proc/7"], ["/here", "/proc/self", "/proc/7/cwd"]),
    ] as [(String, String, [String], [String])])
  func way(path: String, end: String, folders: [String], links: [String]) throws {
    let walk = try #require(self.walk(path))
    #expect(walk.end == end)
    #expect(walk.folders == folders)
    #expect(walk.links == links)
  }

  @Test(
    "What leads nowhere, round and round, or is relative, has no way",
    arguments: ["", "usr", "./usr", "/none", "/usr/none/..", "/loop", String(repeating: "/usr/..", count: 200)])
  func none(path: String) { #expect(walk(path) == nil) }

  @Test(
    "On this machine it ends where realpath(3) does", arguments: ["/proc/self/root/usr/bin", "/bin", "/dev/fd", "/tmp"])
  func live(path: String) throws {
    let end = try #require(realpath(path, nil))
    defer { free(end) }
    #expect(PathWalk.live(path)?.end == String(cString: end))
    #expect(PathWalk.live(path + "/there is none") == nil)
  }

  @Test("What is to be made stands on the way as folders, behind a link that leads nowhere, too")
  func toMake() throws {
    let folder = FileManager.default.temporaryDirectory.path + "/way-\(UInt64.random(in: 0 ... .max))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    #expect(symlink("nothing/here", folder + "/link") == 0 && symlink("\u{FF}", folder + "/named") == 0)
    let way = try #require(PathWalk.live(toMake: folder + "/link/new"))
    #expect(way.end.hasSuffix("/nothing/here/new") && way.links.last == folder + "/link")
    #expect(way.folders.suffix(2).map { String($0.suffix(13)) }.last == "/nothing/here")
    #expect(PathWalk.live(toMake: folder + "/" + String(repeating: "./", count: 300) + "new") == nil, "too many names")
    #expect(PathWalk.live(toMake: "new") == nil)
  }

  @Test("The way to what is not there yet ends at the last folder that is")
  func asFarAs() {
    #expect(PathWalk.live(asFarAs: "/usr/no-such-folder/nor/this") == PathWalk.live("/usr"))
    #expect(PathWalk.live(asFarAs: "/no-such-folder")?.end == "/")
    #expect(PathWalk.live(asFarAs: "/usr") == PathWalk.live("/usr"))
    #expect(PathWalk.live(asFarAs: "usr") == nil)
  }
}
