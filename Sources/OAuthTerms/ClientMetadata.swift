import HTTPTerms

/// The client metadata document of oauthctl (draft-ietf-oauth-client-id-metadata-document): a JSON file on a web site, whose
/// URL is the client's id at every server that takes such. What stands in it is the same for all of them.
package enum ClientMetadata {
  /// What servers show on the page that asks for consent.
  package static let clientName = "oauthctl"

  /// Without a port: a server takes any one on loopback (RFC 8252 §7.3).
  package static let redirectURIs = ["http://127.0.0.1/callback", "http://localhost/callback"]

  /// Those that a public client may use.
  package static let grants: [GrantKind] = [.authorizationCode, .deviceCode]

  /// Longest URL, bytes: what a server may give for a client's id is bounded alike.
  package static let limitBytes = 1_024

  private static let notSecure = "it must begin with https://"

  /// Why `text` is no URL of such a document, as draft §3 wants it; nil: it is one. A query is refused, too, since a server
  /// may drop it.
  package static func problem(inURL text: String) -> String? {
    let url: WebURL
    do { url = try WebURL(text, limitBytes: limitBytes) } catch {
      return error == .plainHTTP ? notSecure : error.rawValue
    }
    guard url.origin.scheme == .https else { return notSecure }
    guard url.path.utf8.count > 1 else { return "it has no path; write https://HOST/PATH" }
    return url.query == nil ? nil : URLProblem.query.rawValue
  }

  /// Why `text` is no page about the client of the document at `url`, for `client_uri` (RFC 7591 §2); nil: it is one. It is
  /// the document's folder or one above: some servers refuse another, since a client could show somebody else's page for its
  /// own.
  package static func problem(inPage text: String, ofDocument url: String) -> String? {
    let page: WebURL
    do { page = try WebURL(text, limitBytes: limitBytes) } catch { return error.rawValue }
    guard let document = try? WebURL(url, limitBytes: limitBytes) else { return nil }
    let folder = page.path.hasSuffix("/") ? page.path : page.path + "/"
    guard page.origin == document.origin, page.query == nil, (document.path + "/").hasPrefix(folder) else {
      return "it must be a folder that the document is in, as \(document.origin)/"
    }
    return nil
  }

  /// Whether such a document holds this redirect, whatever its port.
  package static func holds(redirectURI text: String) -> Bool {
    guard let url = try? WebURL(text), url.origin.scheme == .http, url.query == nil else { return false }
    return redirectURIs.contains("http://\(url.origin.host)\(url.path)")
  }

  /// Whether a client goes to every server with one redirect: its id is a URL as documents have, and the redirect
  /// is this machine's, with the path that documents name. Then nothing but `iss` (RFC 9207) tells whose code a browser brings
  /// (RFC 9700 §4.4).
  package static func sharesRedirect(clientID: String, redirectURI: String) -> Bool {
    // However a server reads what is written oddly: as browsers do (https://url.spec.whatwg.org), blanks before it and line
    // ends in it count for nothing, and each `/` may be `\` or missing.
    let id = clientID.utf8.filter { ![0x09, 0x0A, 0x0D].contains($0) }.drop { $0 <= 0x20 }
    let rest = id.dropFirst(6).drop { "/\\".utf8.contains($0) }
    guard id.prefix(6).map({ $0 | 0x20 }).elementsEqual("https:".utf8.map { $0 | 0x20 }),
      rest.drop(while: { !"/\\?#".utf8.contains($0) }).count > 1,
      let redirect = try? WebURL(redirectURI), redirect.origin.isLoopback
    else { return false }
    return redirect.path.split(separator: "/") == ["callback"] || redirect.path.utf8.contains(UInt8(ascii: "%"))
  }
}
