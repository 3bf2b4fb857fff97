package import AgentWire
import Glibc
import SystemFacts

/// Told step by step what this program does with the agent, where a person wants to know (`--verbose`): sockets, methods,
/// times, programs. Never a secret.
package enum ClientTrace {
  /// Set before the first connection, while there is one thread.
  package nonisolated(unsafe) static var tell: (@Sendable (String) -> Void)?

  /// Told once to whoever waits, verbose or not: a remark, and what to do. Set as `tell` is.
  package nonisolated(unsafe) static var warn: (@Sendable (String, NextStep) -> Void)?

  /// Runs `body`, and tells how long it took.
  static func timed<Value, Failure: Error>(
    _ what: @autoclosure () -> String, _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    guard let tell else { return try body() }
    let began = MonotonicClock.microseconds()
    var end = "answered"
    defer {
      let tenths = (MonotonicClock.microseconds() - began + 50) / 100
      tell("\(what()): \(end) after \(tenths / 10).\(tenths % 10) ms")
    }
    do { return try body() } catch {
      end = "no answer"
      throw error
    }
  }
}
