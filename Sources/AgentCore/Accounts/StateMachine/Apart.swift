/// A value that lies apart from its owner, where it takes room only when it is there: there are ten thousand owners, and
/// what they may hold is far larger than what most of them do.
@propertyWrapper
package indirect enum Apart<Value: Sendable>: Sendable {
  case nothing
  case value(Value)

  package init(wrappedValue: Value?) {
    self = wrappedValue.map(Apart.value) ?? .nothing
  }

  package var wrappedValue: Value? {
    get { if case .value(let value) = self { value } else { nil } }
    set { self = Apart(wrappedValue: newValue) }
  }
}
