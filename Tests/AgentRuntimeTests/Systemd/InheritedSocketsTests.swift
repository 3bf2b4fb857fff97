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
    let receiver = try NotifyReceiver(isAbstract: isAbstract)
    #expect(receiver.notifier.notify(.ready, .status("two\nlines")))
    #expect(receiver.next() == "READY=1\nSTATUS=two lines")
    #expect(receiver.notifier.notify(.stopping))
  }

  @Test(
    "Each state has the spelling of sd_notify(3)",
    arguments: [
      (.ready, "READY=1"), (.stopping, "STOPPING=1"), (.watchdog, "WATCHDOG=1"),
      (.reloading(monotonicMicroseconds: 12), "RELOADING=1\nMONOTONIC_USEC=12"),
      (.extendTimeout(microseconds: 15_000_000), "EXTEND_TIMEOUT_USEC=15000000"),
    ] as [(ServiceNotifier.State, String)])
  func spelling(_ state: ServiceNotifier.State, _ expected: String) throws {
    let receiver = try NotifyReceiver()
    receiver.notifier.notify(state)
    #expect(receiver.next() == expected)
  }

  @Test("A receiver that is gone is no error of ours")
  func gone() {
    #expect(!ServiceNotifier(environment: ["NOTIFY_SOCKET": "/nonexistent/notify"]).notify(.ready))
  }
}
