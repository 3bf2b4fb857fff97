/// The bounds of the socket protocol, shared by both ends (docs/protocol.md, "Limits").
package enum WireLimits {
  /// Longest request line, the line feed included: 64 KiB, since a rejected token of 32 KiB may be in it, escaped.
  package static let requestBytes = 64 << 10
  /// Longest answer line, the line feed included: 4 MiB, which is 8 KiB for each account of a page.
  package static let answerBytes = 4 << 20
  /// Deepest nesting of objects and arrays: the deepest message, a list of accounts with their hosts, has five.
  package static let nesting = 8
  /// Requests of one connection that may be in flight.
  package static let requestsInFlight = 64
  /// Connections; the oldest idle one is dropped for the next. So many leave a thousand of the 9,216 descriptors that the
  /// agent asks for to files, helpers and listeners.
  package static let connections = 8_192
  /// Bytes that a connection may hold in any case: of lines that it did not end, and of answers that it did not take.
  package static let ownBytes = 8 << 10
  /// Bytes that all connections together hold beyond that: 16 MiB.
  package static let sharedBytes = 16 << 20
  /// Requests for a token that wait, of all connections together; each may have four in any case.
  package static let tokenRequests = 16_384
  /// Lists of accounts that are made at the same time, for all connections together.
  package static let listings = 4
  /// Other requests under way, of all connections together; each may have one in any case.
  package static let otherRequests = 256
  /// Seconds a caller has to finish a line it began, and to take an answer. Both take microseconds on one machine.
  package static let lineSeconds = 10
  /// Connections that are subscribed to events; the next one is turned away.
  package static let subscribers = 64
  /// Events that wait for those that are slow; older ones are lost to them.
  package static let eventsKept = 256
  /// Seconds without a request after which a connection is dropped: to connect again costs less than a millisecond.
  package static let idleSeconds = 300
  /// Logins that wait for a browser; the next one is turned away. Each has up to two processes with two threads.
  package static let browserLogins = 64
  /// Longest request id given as a string.
  package static let identifierBytes = 64
  /// Longest access token that is handed out.
  package static let tokenBytes = 32 << 10
  /// Longest time a caller may wait for an answer.
  package static let timeoutMilliseconds = 600_000
  /// Time a caller waits when it names none: enough for a slow server, and a person still waits that long.
  package static let defaultTimeoutMilliseconds = 30_000
  /// Time that a change of an account may take, since a request of the account has to end before it: 61 s of its own, and
  /// what comes after it.
  package static let changeMilliseconds = 90_000
  /// Accounts a page of a list holds at most.
  package static let pageSize = 500
}
