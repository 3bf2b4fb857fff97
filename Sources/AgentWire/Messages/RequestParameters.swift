/// The parameters of one method. Every key that is not a case of `Keys` is refused by its name.
package protocol RequestParameters: Codable, Sendable {
  associatedtype Keys: CodingKey & CaseIterable
  associatedtype Answer: Codable & Sendable
  static var method: Method { get }
}

/// A result without members.
package struct EmptyResult: Codable, Sendable, Equatable {
  package init() {}
}
