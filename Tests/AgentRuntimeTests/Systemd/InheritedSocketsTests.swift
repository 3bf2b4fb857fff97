import Glibc
import Testing

@testable import AgentRuntime

@Suite("Inherited sockets")
struct InheritedSocketsTests {
  private static let ours = InheritedSocket(descriptor: 3, name: "agent")

  @Test(
    "LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES are read as sd_listen_fds(3) says",
    arguments: [
      ([:], []),
      (["LISTEN_FDS": "1"], []),
      (["LISTEN_PID": "42"], []),
      (["LISTEN_PID": "41", "LISTEN_FDS": "1"], []),
      (["LISTEN_PID": "41", "LISTEN_FDS": "nonsense"], []),
      (["LISTEN_PID": "42", "LISTEN_FDS": "0"], []),
      (["LISTEN_PID": "42", "LISTEN_FDS": "0", "LISTEN_FDNAMES": ""], []),
      (["LISTEN_PID": "42", "LISTEN_FDS": "1"], [InheritedSocket(descriptor: 3, name: "unknown")]),
      (["LISTEN_PID": "42", "LISTEN_FDS": "1", "LISTEN_FDNAMES": "agent"], [ours]),
      (
        ["LISTEN_PID": "42", "LISTEN_FDS": "3", "LISTEN_FDNAMES": "agent::proxy"],
        [ours, InheritedSocket(descriptor: 4, name: ""), InheritedSocket(descriptor: 5, name: "proxy")]
      ),
    ] as [([String: String], [InheritedSocket])])
  func reads(_ environment: [String: String], _ expected: [InheritedSocket]) throws {
    #expect(try InheritedSockets.parse(environment, pid: 42) == expected)
  }

  @Test(
    "Variables that cannot be right are refused",
    arguments: [
      ["LISTEN_PID": "", "LISTEN_FDS": "1"], ["LISTEN_PID": "-42", "LISTEN_FDS": "1"],
      ["LISTEN_PID": "42x", "LISTEN_FDS": "1"], ["LISTEN_PID": "99999999999", "LISTEN_FDS": "1"],
      ["LISTEN_PID": "42", "LISTEN_FDS": ""], ["LISTEN_PID": "42", "LISTEN_FDS": "-1"],
      ["LISTEN_PID": "42", "LISTEN_FDS": "65"], ["LISTEN_PID": "42", "LISTEN_FDS": " 1"],
      ["LISTEN_PID": "42", "LISTEN_FDS": "1", "LISTEN_FDNAMES": "a:b"],
      ["LISTEN_PID": "42", "LISTEN_FDS": "2", "LISTEN_FDNAMES": "a"],
    ])
  func refuses(_ environment: [String: String]) {
    #expect(throws: ListenerError.self) { try InheritedSockets.parse(environment, pid: 42) }
  }
}

@Suite("Telling the service manager")
struct ServiceNotifierTests {
  @Test("Without a usable NOTIFY_SOCKET nothing is sent", arguments: [nil, "", "relative", "@", "vsock:2:1"])
  func nobody(_ address: String?) {
    let notifier = ServiceNotifier(environment: address.map { ["NOTIFY_SOCKET": $0] } ?? [:])
    #expect(notifier.address == nil)
    #expect(!notifier.notify(.ready))
  }

  @Test("States arrive in one datagram, at a path and at an abstract name", arguments: [false, true])
  func arrives(_ isAbstract: Bool) throws {
    let folder = try ScratchFolder()
    let path = folder.path + "/notify"
    let receiver = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    defer { close(receiver) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let name = (isAbstract ? [0] : []) + Array(path.utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    let length = socklen_t(2 + name.count + (isAbstract ? 0 : 1))
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(receiver, $0, length) }
    }
    try #require(bound == 0)

    let notifier = ServiceNotifier(environment: ["NOTIFY_SOCKET": (isAbstract ? "@" : "") + path])
    #expect(notifier.notify(.ready, .status("two\nlines")))
    var buffer = [UInt8](repeating: 0, count: 256)
    let count = recv(receiver, &buffer, buffer.count, Int32(MSG_DONTWAIT))
    #expect(String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self) == "READY=1\nSTATUS=two lines")
    #expect(notifier.notify(.stopping))
  }

  @Test("A receiver that is gone is no error of ours")
  func gone() {
    #expect(!ServiceNotifier(environment: ["NOTIFY_SOCKET": "/nonexistent/notify"]).notify(.ready))
  }
}
