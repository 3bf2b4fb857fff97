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
    case .openID: return trimmed + "/.well-known/openid-configuration"
    }
  }
}

/// The two places of metadata.
package enum MetadataKind: String, Sendable, CaseIterable {
  /// RFC 8414 §3.1: inserted between host and path.
  case oauth = "OAuth metadata"
  /// OpenID Connect Discovery §4: appended to the path.
  case openID = "OpenID discovery"
}
