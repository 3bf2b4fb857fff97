import Glibc
import Logging
import Testing

@testable import AgentRuntime

@Suite("The journal")
struct JournalTests {
  private static func stream(_ descriptor: Int32) -> String {
    var status = stat()
    fstat(descriptor, &status)
    return "\(status.st_dev):\(status.st_ino)"
  }

  @Test("It is written to only where the stream that is meant for people leads there")
  func stream() throws {
    let file = open("/dev/null", O_WRONLY)
    defer { close(file) }
    #expect(JournalSocket(environment: ["JOURNAL_STREAM": Self.stream(file)], stream: file) != nil)
    #expect(JournalSocket(environment: [:], stream: file) == nil)
    for other in ["", "1:1", "x", Self.stream(STDIN_FILENO) + "0"] {
      #expect(JournalSocket(environment: ["JOURNAL_STREAM": other], stream: file) == nil)
    }
  }

  @Test("An entry has its fields, each one line, whatever is in them")
  func fields() throws {
    let receiver = try NotifyReceiver()
    let file = open("/dev/null", O_WRONLY)
    defer { close(file) }
    let journal = try #require(
      JournalSocket(
        environment: ["JOURNAL_STREAM": Self.stream(file)], stream: file, path: receiver.notifier.address ?? ""))
    let output = JournalOutput(
      identifier: "oauthd", journal: journal, otherwise: LogLines(DescriptorSink(descriptor: file)))
    let threshold = LogThreshold(commandLine: .debug)
    let logger = Logger(label: "oauthd") { _ in AgentLogHandler(output: output, threshold: threshold) }
    logger.warning(
      "login failed",
      metadata: [
        "event": "login_failed", "account": "work", "issuer": "https://h", "reason": "refused\nPRIORITY=0\u{1B}[1m",
        "Odd key": "left out",
      ])
    #expect(
      receiver.next() == """
        MESSAGE=work: login failed: refused\\u{A}PRIORITY=0\\u{1B}[1m (Odd key=left out, issuer=https://h)
        PRIORITY=4
        SYSLOG_IDENTIFIER=oauthd
        OAUTHCTL_EVENT=login_failed
        MESSAGE_ID=c5ee86533ba644f5b5b9928e38128f90
        OAUTHCTL_ACCOUNT=work
        OAUTHCTL_ISSUER=https://h
        OAUTHCTL_REASON=refused\\u{A}PRIORITY=0\\u{1B}[1m

        """)
    logger.debug("x", metadata: ["reason": "\(String(repeating: "é", count: 5_000))"])
    #expect(try #require(receiver.next()).count < 3_000)
    logger.trace("below the level")
    #expect(receiver.isEmpty)
  }

  @Test("The message ids are 128 bits, and different")
  func messageIDs() {
    let ids = Array(JournalOutput.messageIDs.values)
    #expect(ids.allSatisfy { $0.utf8.count == 32 && UInt64($0.prefix(16), radix: 16) != nil })
    #expect(Set(ids).count == ids.count)
  }
}
