package import HTTPTerms

/// What a protected resource says of itself (RFC 9728 §2), as far as a client needs it.
package struct ProtectedResource: Sendable, Equatable {
  /// Its identifier as it spells it: what `resource` is in requests (RFC 8707).
  package var resource: WebURL
  /// 1 to ``serverLimit`` servers, in its order. Each has clients of its own.
  package var authorizationServers: [Issuer]
  /// Nil: not told.
  package var scopesSupported: [String]?
  /// Whether it takes only tokens that are bound to a key (`dpop_bound_access_tokens_required`).
  package var requiresDPoP = false

  /// More authorization servers than these are not tried: most resources name one.
  package static let serverLimit = 4

  /// Where its metadata may lie (RFC 9728 §3.1): with its path, then at the root.
  package static func places(_ url: WebURL) -> [String] {
    let place = url.origin.description + "/.well-known/oauth-protected-resource"
    let path = url.path.hasSuffix("/") ? String(url.path.dropLast()) : url.path
    return path.isEmpty ? [place] : [place + path, place]
  }
}

/// Why a document about a protected resource cannot be used. Foreign texts in it are escaped.
package enum ResourceRefusal: Error, Sendable, Equatable, CustomStringConvertible {
  case notResourceMetadata(String)
  /// RFC 9728 §3.3: it speaks of another resource.
  case otherResource(String)
  case noServer
  case server(reason: String)

  package var description: String {
    switch self {
    case .notResourceMetadata(let reason): "the document is no metadata of a protected resource: \(reason)"
    case .otherResource(let shown): "the document is about \"\(shown)\", which this address is not part of"
    case .noServer: "it names no authorization server"
    case .server(let reason): "an authorization server that it names is refused: \(reason)"
    }
  }
}

extension ProtectedResource {
  /// Judges a document that was found for `asked` at `place`. A resource that covers the address, at the same origin, will
  /// do where the document lies at that resource's own place: servers often describe all that is below one path. One that
  /// lies elsewhere may be of somebody who has a path there, and speaks of its own address alone.
  init(_ body: JSONObject, asked: WebURL, place: String) throws(ResourceRefusal) {
    if let problem = body.problem { throw .notResourceMetadata(problem.rawValue) }
    guard let text = body.text("resource", limit: WebURL.limitBytes) else {
      throw .notResourceMetadata("it names no resource")
    }
    if let name = body.repeated(["resource", "authorization_servers"]) {
      throw .notResourceMetadata("\(name) appears twice")
    }
    guard let url = try? WebURL(text), url.covers(asked),
      asked.covers(url) || Self.places(url).first == place
    else { throw .otherResource(Escaped.serverText(text)) }
    resource = url
    guard case .array(let values)? = body.value("authorization_servers"), !values.isEmpty else { throw .noServer }
    authorizationServers = []
    for value in values.prefix(Self.serverLimit) {
      guard case .string(let secret) = value, let text = secret.text(limit: WebURL.limitBytes) else {
        throw .server(reason: "it is no text of at most \(WebURL.limitBytes) bytes")
      }
      let issuer: Issuer
      do { issuer = try Issuer(text) } catch { throw .server(reason: error.description) }
      // A resource out there has no business with what listens on this machine.
      guard !issuer.url.origin.isThisMachine || asked.origin.isThisMachine else {
        throw .server(reason: "it lies on this machine's loopback and the resource does not")
      }
      authorizationServers.append(issuer)
    }
    if case .bool(true)? = body.value("dpop_bound_access_tokens_required") { requiresDPoP = true }
    if case .array(let values)? = body.value("scopes_supported") {
      scopesSupported = values.prefix(1_000).compactMap { value in
        if case .string(let text) = value { text.text(limit: 1_024) } else { nil }
      }
    }
  }
}

extension WebURL {
  /// Whether `other` is this address, or one below it.
  fileprivate func covers(_ other: WebURL) -> Bool {
    guard origin == other.origin, query == nil || query == other.query else { return false }
    let mine = path.split(separator: "/"), others = other.path.split(separator: "/")
    return others.starts(with: mine)
  }
}
