/// A server's clock as the `Date` of an answer says (RFC 9110 §6.6.1), compared with this machine's boot clock.
package struct ServerClock: Sendable, Equatable {
  /// Seconds by which two clocks may differ without a word: assertions and certificates bear five minutes.
  package static let toleranceSeconds = 300.0

  private let bootID: String
  /// Boot seconds at which it was heard.
  private let heard: Double
  /// The server's Unix seconds when this machine booted, at least and at most.
  private let earliest: Double
  private let latest: Double

  /// `dateSeconds` is what an answer said whose request was sent and that was received at these times.
  package init(dateSeconds: Int64, sent: Moment, received: Moment) {
    bootID = received.bootID
    heard = received.bootSeconds
    earliest = Double(dateSeconds) - received.bootSeconds
    // `Date` knows no fractions.
    latest = Double(dateSeconds) + 1 - sent.bootSeconds
  }

  /// Seconds by which this machine's wall clock is behind the server's; negative: ahead.
  package func behindSeconds(at now: Moment) -> Double {
    (earliest + latest) / 2 + now.bootSeconds - now.wallSeconds
  }

  /// Seconds that have certainly passed since `earlier` without this machine's boot clock knowing: it stood still, as a
  /// virtual machine does while it is paused.
  package func pauseSeconds(since earlier: ServerClock) -> Double {
    bootID == earlier.bootID ? max(0, earliest - earlier.latest) : 0
  }

  /// The same since `moment`, which had the server's clock; nil: it had not, or was in another boot.
  package func pauseSeconds(since moment: Moment) -> Double? {
    guard moment.bootID == bootID, let behind = moment.behindSeconds else { return nil }
    return max(0, earliest - (moment.wallSeconds + behind - moment.bootSeconds))
  }

  /// Whether it was heard after `moment`, or in another boot.
  package func isLater(than moment: Moment) -> Bool { bootID != moment.bootID || heard > moment.bootSeconds }

  /// A sentence where the difference matters; nil: it does not.
  package func remark(host: String, at now: Moment) -> String? {
    let behind = behindSeconds(at: now)
    guard abs(behind) > Self.toleranceSeconds else { return nil }
    return "this machine's clock is \(Self.words(abs(behind))) \(behind > 0 ? "behind" : "ahead of") that of \(host)"
  }

  private static func words(_ seconds: Double) -> String {
    let units = [(86_400.0, "d"), (3_600, "h"), (60, "min")]
    // A unit of which there are two or more, as people say it.
    let (length, unit) = units.first { seconds >= 1.95 * $0.0 } ?? (60, "min")
    return "\(Int((seconds / length).rounded())) \(unit)"
  }
}

/// Notices that the wall clock moved and the boot clock did not: it was set, or the machine stood still.
package struct ClockStepDetector: Sendable {
  /// Smaller steps are those of a clock that is kept right: seconds.
  package static let stepSeconds = 60.0

  private var wallAtBoot: Double

  package init(at now: Moment) { wallAtBoot = now.wallSeconds - now.bootSeconds }

  package func hasMoved(at now: Moment) -> Bool {
    abs(now.wallSeconds - now.bootSeconds - wallAtBoot) > Self.stepSeconds
  }
}
