package import NIOCore

/// The bounds of the loopback redirect listener.
package struct RedirectLimits: Sendable {
  /// Longest request, its head and whatever follows, in bytes.
  package var requestBytes = 16 << 10
  package var connections = 16
  /// Connections that wait until it is looked up whose they are. As many may wait to be accepted.
  package var lookups = 128
  /// Time to send the request's head.
  package var requestTime = TimeAmount.seconds(10)
  /// Time to take the answer.
  package var answerTime = TimeAmount.seconds(10)
  /// Time that what is still sent after the answer is read and dropped: closing sooner would lose the answer.
  package var lingerTime = TimeAmount.seconds(1)
  /// Time that closing waits for the browser to fetch the landing page.
  package var closeGrace = TimeAmount.seconds(2)

  package init() {}
}
