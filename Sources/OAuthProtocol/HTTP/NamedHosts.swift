package import HTTPTerms

/// What a person named decides where requests may go: the host of a URL that was typed, of an account's issuer or of an
/// endpoint in its file is reached wherever it is, in a company's own network too. Any other host was named by a
/// document. One that came from the public internet has no business in the network around this machine, so what it
/// names is reached at public addresses alone, whatever a name server says. One that came from a private network may
/// name its neighbours.
package struct NamedHosts: Sendable, Equatable {
  private var hosts: Set<String>

  package init(_ urls: [WebURL]) { hosts = Set(urls.map(\.origin.host)) }

  /// Whether a request to `url`, which a document names, may go to public addresses alone. `isPublic`: the document came from
  /// such an address.
  package func isPublicOnly(_ url: WebURL, inDocumentFromPublicAddress isPublic: Bool) -> Bool {
    isPublic && !hosts.contains(url.origin.host)
  }
}
