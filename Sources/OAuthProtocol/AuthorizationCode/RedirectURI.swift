import HTTPTerms
import OAuthTerms
import Sealing

/// The redirect URI an account has registered: on loopback, where the agent listens (RFC 8252 §7.3), on https only where it has
/// a certificate; by a scheme of one's own, whose handler brings the response (RFC 8252 §7.1); or any https URL, whose response
/// a person pastes.
///
/// The path is sent as registered. Without a port any one will do: the kernel chooses, and the real one is sent.
package struct RedirectURI: Sendable, Hashable, CustomStringConvertible {
  /// As registered.
  package let text: String
  /// The addresses to listen on, `127.0.0.1`-like or `::1` without brackets; both for `localhost`; none when the
  /// response can only be pasted.
  package let listenAddresses: [String]
  /// The fixed port, or nil for any.
  package let port: Int?
  /// What a certificate has to name: the host without brackets, where the agent listens on https; else nil.
  package let certifiedHost: String?
  private let beforePort: String
  private let afterPort: String

  /// `hasCertificate`: whether the agent can listen on https. Throws ``ProtocolError/redirectURI(shown:reason:)``.
  package init(_ text: String, hasCertificate: Bool = false) throws(ProtocolError) {
    func refuse(_ reason: String) -> ProtocolError {
      .redirectURI(shown: Escaped.forTerminal(text), reason: reason)
    }
    if PrivateUseScheme.of(text) != nil {
      guard text.utf8.count <= Self.limitBytes else { throw refuse(URLProblem.tooLong.rawValue) }
      // What has a meaning in an address stands for itself alone.
      guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"?#\"<>\\^`{|}%".utf8.contains($0) }) else {
        throw refuse("it holds a query, a fragment, or a character that does not belong in an address")
      }
      self.text = text
      (port, certifiedHost) = (nil, nil)
      (listenAddresses, beforePort, afterPort) = ([], text, "")
      return
    }
    let url: WebURL
    do {
      url = try WebURL(text, limitBytes: Self.limitBytes)
    } catch .scheme {
      throw refuse(
        "it must begin with http:// on loopback, with https:// to paste the response, or with a scheme of its own as "
          + "com.example.app:/")
    } catch {
      throw refuse(error.rawValue)
    }
    guard url.query == nil else { throw refuse(URLProblem.query.rawValue) }
    self.text = text
    port = url.writtenPort
    let isSecure = url.origin.scheme == .https
    guard !isSecure || hasCertificate && url.origin.isLoopback else {
      (listenAddresses, beforePort, afterPort, certifiedHost) = ([], text, "", nil)
      return
    }
    let host = url.origin.host == "[::1]" ? "::1" : url.origin.host
    listenAddresses = host == "localhost" ? ["127.0.0.1", "::1"] : [host]
    certifiedHost = isSecure ? host : nil
    // Taken from the text, so that the spelling of the host stays as registered.
    let withoutPath = text.dropLast(url.path.count)
    let portSuffix = url.writtenPort.map { ":\($0)" } ?? ""
    beforePort = String(withoutPath.dropLast(portSuffix.count))
    afterPort = url.path
  }

  /// Longest one, bytes.
  private static let limitBytes = 1_024

  package var description: String { text }

  /// True when the agent can listen for the response.
  package var isLoopback: Bool { !listenAddresses.isEmpty }

  /// As a client of `issuer` is registered with it: on loopback, where it has no path, with one of that issuer's own
  /// (RFC 9700 §4.4.2.2). A server that gives another server's client as the new one, and sends the browser there, has
  /// that server refuse the redirect.
  package func registered(at issuer: String) throws(ProtocolError) -> RedirectURI {
    guard isLoopback, afterPort.isEmpty else { return self }
    // The issuer's own comes first: some servers take each path below one that they know.
    return try RedirectURI(
      "\(text)/\(Hex.encode(Digest.sha256(issuer.utf8).prefix(8)))/callback", hasCertificate: certifiedHost != nil)
  }

  /// Where the agent listens, as a browser is to ask for it: by the host that the certificate names on https, else by
  /// `address`, the one that was listened on.
  package func origin(address: String, port: Int) -> String {
    certifiedHost != nil
      ? "\(beforePort):\(port)" : "http://\(address.contains(":") ? "[\(address)]" : address):\(port)"
  }

  /// The `redirect_uri` parameter when listening on `port`; the registered text when only pasting is possible.
  package func parameter(port: Int) -> String { isLoopback ? "\(beforePort):\(self.port ?? port)\(afterPort)" : text }
}
