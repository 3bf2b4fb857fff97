/// What one `oauthd-redirect` keeps to. The agent decides, and says it when it has started the process.
package struct RedirectLimits: Equatable, Sendable {
  /// Version of what is said. The helper may have been replaced by an upgrade while an older agent runs.
  static let version: UInt8 = 2
  /// Longest name of a method; the longest registered one has 17 bytes.
  static let methodBytes = 32
  /// `Host` fields of one request that are passed on: more than one is one too many.
  static let hosts = 2
  /// An address in words, as `127.0.0.1` or `::1`: the longest of IPv6 (INET6_ADDRSTRLEN).
  static let addressBytes = 45

  /// Longest request, its head and whatever follows, in bytes.
  package var requestBytes = 16 << 10
  /// A browser opens six to one host.
  package var connections = 16
  /// Connections that wait until the agent knows whose they are. As many may wait to be accepted.
  package var lookups = 128
  /// Time to send the request's head. A browser on the same machine needs milliseconds.
  package var requestMilliseconds = 10_000
  /// Time to take the answer.
  package var answerMilliseconds = 10_000
  /// Time that what is still sent after the answer is read and dropped: closing sooner would lose the answer.
  package var lingerMilliseconds = 1_000
  /// Time after which the process ends, whatever the agent does: twice that of a login.
  package var lifeMilliseconds = 600_000

  package init() {}

  /// Largest of each value: what a broken agent could ask for is bounded, too.
  static let greatest = 3_600_000

  var values: [Int] {
    [
      requestBytes, connections, lookups, requestMilliseconds, answerMilliseconds, lingerMilliseconds,
      lifeMilliseconds,
    ]
  }

  init(payload reader: inout PayloadReader) throws(FetchWireError) {
    let version = try reader.integer(bytes: 1, "version")
    guard version == Self.version else { throw .versionMismatch(UInt8(truncatingIfNeeded: version)) }
    var values: [Int] = []
    for _ in self.values {
      let value = try reader.integer(bytes: 4, "limit")
      guard (1...Self.greatest).contains(value) else { throw .invalid("limit") }
      values.append(value)
    }
    (requestBytes, connections, lookups) = (values[0], values[1], values[2])
    (requestMilliseconds, answerMilliseconds) = (values[3], values[4])
    (lingerMilliseconds, lifeMilliseconds) = (values[5], values[6])
  }

  func write(to writer: inout PayloadWriter) {
    writer.integer(Int(Self.version), bytes: 1)
    for value in values { writer.integer(min(max(value, 1), Self.greatest), bytes: 4) }
  }
}
