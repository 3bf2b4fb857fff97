/// A point in time on both of the machine's clocks. Boot time counts suspend and never jumps but means nothing after a
/// restart of the machine; wall time survives that but can be set.
package struct Moment: Sendable, Equatable, Codable {
  /// The kernel's random id of this boot.
  package var bootID: String
  /// Seconds since boot, suspend included (CLOCK_BOOTTIME).
  package var bootSeconds: Double
  /// Unix seconds (CLOCK_REALTIME).
  package var wallSeconds: Double
  /// Seconds by which the wall clock was behind that of the account's server; nil: not known in this boot.
  package var behindSeconds: Double?

  package init(bootID: String, bootSeconds: Double, wallSeconds: Double, behindSeconds: Double? = nil) {
    self.bootID = bootID
    self.bootSeconds = bootSeconds
    self.wallSeconds = wallSeconds
    self.behindSeconds = behindSeconds
  }

  /// Seconds from `earlier` to here: by boot time within one boot, else by wall time, as the server's clock corrects it
  /// where both were received. Negative when `earlier` is later.
  package func seconds(since earlier: Moment) -> Double {
    if bootID == earlier.bootID { return bootSeconds - earlier.bootSeconds }
    guard let behindSeconds, let before = earlier.behindSeconds else { return wallSeconds - earlier.wallSeconds }
    return wallSeconds + behindSeconds - earlier.wallSeconds - before
  }

  /// Seconds from `earlier` to here, and none when a clock that was set back puts `earlier` later.
  package func elapsed(since earlier: Moment) -> Double { max(0, seconds(since: earlier)) }

  /// Seconds from `earlier` to here, for what may not be believed too young: within one boot by the clock that says more,
  /// since the boot clock knows nothing of a machine that stood still. Since an earlier boot this one has passed at least,
  /// whatever a wall clock says that came back behind. Without end where `earlier` is of the future: by more than a step of
  /// the wall clock, or of this boot, as from a time namespace that is ahead. Nobody can know then.
  package func longestElapsed(since earlier: Moment) -> Double {
    let seconds = seconds(since: earlier)
    if bootID == earlier.bootID {
      return seconds < -1 ? .infinity : max(0, seconds, wallSeconds - earlier.wallSeconds)
    }
    return seconds < -ClockStepDetector.stepSeconds ? .infinity : max(bootSeconds, seconds)
  }

  /// This moment with the time that was missed since, where the wall clock has moved, as the server's clock says where both
  /// have it, else the wall clock: for what was received from the server only afterwards. In another boot it is as it was.
  package func aged(by now: Moment) -> Moment {
    guard bootID == now.bootID, ClockStepDetector(at: self).hasMoved(at: now) else { return self }
    let passed: Double =
      if let behindSeconds, let behindNow = now.behindSeconds {
        now.wallSeconds + behindNow - wallSeconds - behindSeconds
      } else {
        now.wallSeconds - wallSeconds
      }
    var next = self
    let missed = passed - (now.bootSeconds - bootSeconds)
    if missed > ClockStepDetector.stepSeconds { next.bootSeconds -= missed }
    return next
  }

  /// This moment moved on both clocks.
  package func advanced(by seconds: Double) -> Moment {
    Moment(
      bootID: bootID, bootSeconds: bootSeconds + seconds, wallSeconds: wallSeconds + seconds,
      behindSeconds: behindSeconds)
  }

  private enum CodingKeys: String, CodingKey {
    case bootID = "boot_id"
    case bootSeconds = "boot_s"
    case wallSeconds = "wall_s"
    case behindSeconds = "behind_s"
  }
}

/// The seams for time: what time it is, and sleeping. The live one uses a clock that counts suspend.
package protocol TimeKeeper: Sendable {
  func now() -> Moment
  /// Returns when boot time has advanced by `seconds`, or throws when the task is cancelled.
  func sleep(seconds: Double) async throws
}
