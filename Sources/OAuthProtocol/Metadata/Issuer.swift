package import HTTPTerms

/// An issuer identifier (RFC 8414 §2): https, or http on loopback; no query, no fragment.
package struct Issuer: Sendable, Hashable, CustomStringConvertible {
  /// As written: metadata and `iss` must equal it to the byte.
  package let text: String
  package let url: WebURL

  /// Throws ``ProtocolError/issuer(shown:reason:)``.
  package init(_ text: String) throws(ProtocolError) {
    do {
      url = try WebURL(text, limitBytes: 2_048)
    } catch {
      throw .issuer(shown: Escaped.forTerminal(text), reason: error.rawValue)
    }
    guard url.query == nil else {
      throw .issuer(shown: Escaped.forTerminal(text), reason: URLProblem.query.rawValue)
    }
    self.text = text
  }

  package var description: String { text }

  /// True when `other` is the same identifier, byte by byte (RFC 8414 §3.3).
  package func matches(_ other: String) -> Bool { text.utf8.elementsEqual(other.utf8) }

  /// Where the metadata of `kind` lies.
  package func metadataURL(_ kind: MetadataKind) -> String {
    // A final slash goes before a well-known part is inserted or appended.
    let trimmed = url.path.hasSuffix("/") ? String(text.dropLast()) : text
    let path = url.path.hasSuffix("/") ? url.path.dropLast() : url.path[...]
    switch kind {
    case .oauth: return trimmed.dropLast(path.count) + "/.well-known/oauth-authorization-server" + path
    case .insertedOpenID: return trimmed.dropLast(path.count) + "/.well-known/openid-configuration" + path
    case .openID: return trimmed + "/.well-known/openid-configuration"
    }
  }

  /// The places in the order to ask them. Without a path the two of OpenID Connect are one.
  var places: [MetadataKind] { url.path.count > 1 ? [.oauth, .insertedOpenID, .openID] : [.oauth, .openID] }
}

/// The places of metadata.
package enum MetadataKind: Sendable {
  /// RFC 8414 §3.1: inserted between host and path.
  case oauth
  /// RFC 8414 §5: OpenID Connect's name, inserted between host and path.
  case insertedOpenID
  /// OpenID Connect Discovery §4: appended to the path.
  case openID

  /// As people and callers read it.
  package var name: String { self == .oauth ? "OAuth metadata" : "OpenID discovery" }
}
