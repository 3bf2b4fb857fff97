/// A value in a box of its own, which takes room only when there is one: there are ten thousand owners, and what they may
/// hold is far larger than what most of them do.
@propertyWrapper
package indirect enum Boxed<Value: Sendable>: Sendable {
  case nothing
  case value(Value)

  package init(wrappedValue: Value?) {
    self = wrappedValue.map(Boxed.value) ?? .nothing
  }

  package var wrappedValue: Value? {
    get { if case .value(let value) = self { value } else { nil } }
    set { self = Boxed(wrappedValue: newValue) }
  }
}
