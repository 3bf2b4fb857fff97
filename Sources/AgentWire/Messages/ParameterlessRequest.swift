/// A method without parameters: every key is refused.
package protocol ParameterlessRequest: RequestParameters, Equatable where Keys == NoKeys {
  init()
}

/// What ``ParameterlessRequest`` may name.
package enum NoKeys: CodingKey, CaseIterable {}

extension ParameterlessRequest {
  package init(from decoder: any Decoder) throws { self.init() }
  package func encode(to encoder: any Encoder) throws { _ = encoder.container(keyedBy: NoKeys.self) }
}
