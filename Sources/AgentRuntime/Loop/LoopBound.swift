/// Carries what belongs to a loop through other threads and back. Whoever has the loop's queue is on its thread, and gets
/// it out again.
struct LoopBound<Value>: @unchecked Sendable {
  private let held: Value
  private let queue: ObjectIdentifier

  init(_ value: Value, _ queue: EventQueue) {
    held = value
    self.queue = ObjectIdentifier(queue)
  }

  /// With another loop's queue it ends the process: two threads would meet.
  func value(on queue: EventQueue) -> Value {
    precondition(ObjectIdentifier(queue) == self.queue, "asked for on another loop")
    return held
  }
}
