/// A person at a server, as an ID token names one: `iss` and `sub` together are nobody else's, and stay (OpenID Connect
/// Core 1.0 §5.7).
package struct EndUser: Sendable, Equatable, Codable {
  package var issuer: String
  package var subject: String
  /// Fit to be shown; nil: nothing of it is.
  package var who: String?

  package init(issuer: String, subject: String, who: String? = nil) {
    self.issuer = issuer
    self.subject = subject
    self.who = who
  }

  /// By bytes, as servers tell people apart: é can be written in two ways.
  package static func == (left: EndUser, right: EndUser) -> Bool {
    left.issuer.utf8.elementsEqual(right.issuer.utf8) && left.subject.utf8.elementsEqual(right.subject.utf8)
      && left.who.map { Array($0.utf8) } == right.who.map { Array($0.utf8) }
  }

  var shown: String { who ?? "somebody" }

  /// As somebody else than `other`, who may have the same name.
  func shownBeside(_ other: EndUser) -> String { shown == other.shown ? "another \(shown)" : shown }

  /// Whether both are one person, whatever they are shown by.
  package func isSame(as other: EndUser) -> Bool { names == other.names }

  /// Byte by byte: `é` can be written in two ways, which are equal as strings and not to a server. Google may leave the
  /// scheme of its issuer out (§15.6.2).
  private var names: [[UInt8]] {
    let scheme = "https://"
    let bare = issuer.hasPrefix(scheme) ? issuer.dropFirst(scheme.count) : issuer[...]
    return [Array(bare.utf8), Array(subject.utf8)]
  }

  private enum CodingKeys: String, CodingKey {
    case who
    case issuer = "iss"
    case subject = "sub"
  }
}
