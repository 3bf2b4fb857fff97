package import OAuthTerms
package import Sealing

/// Our client's name at the authorization server and how it proves it.
package struct OAuthClient: Sendable, Equatable {
  /// Of a client secret, 8 KiB.
  package static let longestSecretBytes = 8_192

  package let id: String
  package let authentication: ClientAuthentication

  /// Throws ``ProtocolError/parameter(name:reason:)`` unless `id` is 1…2048 printable ASCII characters (RFC 6749 App.
  /// A.1), ``ProtocolError/clientAuthentication(_:)`` for an empty secret or one beyond 8 KiB.
  package init(id: String, authentication: ClientAuthentication = .none) throws(ProtocolError) {
    guard (1...2_048).contains(id.utf8.count), id.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
      throw .parameter(name: "client_id", reason: "it has 1 to 2048 printable ASCII characters")
    }
    switch authentication {
    case .none, .assertion, .certificate: break
    case .basic(let secret), .post(let secret):
      guard (1...Self.longestSecretBytes).contains(secret.count) else {
        throw .clientAuthentication("the client secret is empty or longer than \(Self.longestSecretBytes) bytes")
      }
    }
    self.id = id
    self.authentication = authentication
  }

  /// Adds what proves the client to the form, or returns it as the value of `Authorization`; never both (RFC 6749 §2.3).
  func authenticate(_ form: inout FormParameters) -> Secret? {
    // A pushed authorization request names its client anyway.
    let isNamed = form.names.contains("client_id")
    switch authentication {
    case .none, .certificate:
      // With a certificate the server finds the client by this name (RFC 8705 §2).
      if !isNamed { form.append("client_id", id) }
      return nil
    case .post(let secret):
      if !isNamed { form.append("client_id", id) }
      form.append("client_secret", secret)
      return nil
    case .assertion(let assertion):
      if !isNamed { form.append("client_id", id) }
      form.append("client_assertion_type", ClientAssertion.type)
      form.append("client_assertion", assertion)
      return nil
    case .basic(let secret):
      // Encoded as form values first, so that a colon in the id stays apart (RFC 6749 §2.3.1).
      var buffer = WipedBuffer(capacity: 3 * (id.utf8.count + secret.count) + 1)
      FormParameters.encode(id.utf8, into: &buffer)
      buffer.append(UInt8(ascii: ":"))
      secret.withBytes { FormParameters.encode($0, into: &buffer) }
      return buffer.secret().withBytes { basicCredentials($0) }
    }
  }
}

/// How the client proves itself at the token endpoint (RFC 6749 §2.3, RFC 7591 §2).
package enum ClientAuthentication: Sendable, Equatable {
  /// A public client: its id alone, in the body.
  case none
  /// `client_secret_basic`
  case basic(Secret)
  /// `client_secret_post`
  case post(Secret)
  /// `client_secret_jwt` and `private_key_jwt`: a ``ClientAssertion``, good for one request.
  case assertion(Secret)
  /// `tls_client_auth` and `self_signed_tls_client_auth` (RFC 8705): the connection proves the client.
  case certificate(ConnectionCertificate)
}

extension ClientAuthenticationMethod {
  /// The method for an account that names none: `none` without a secret, else what the server lists, Basic first.
  ///
  /// A server that lists nothing means Basic (RFC 8414 §2). Without a secret `none` is taken even where the list lacks
  /// it: many servers that serve public clients do not list it.
  ///
  /// Throws ``ProtocolError/clientAuthentication(_:)`` when there is a secret and the server takes neither form of it.
  package static func chosen(hasSecret: Bool, supported: [String]?) throws(ProtocolError) -> Self {
    guard hasSecret else { return .none }
    guard let supported, !supported.isEmpty else { return .clientSecretBasic }
    if supported.contains(clientSecretBasic.rawValue) { return .clientSecretBasic }
    if supported.contains(clientSecretPost.rawValue) { return .clientSecretPost }
    let listed = Escaped.serverText(supported.joined(separator: ", "), limit: 120)
    throw .clientAuthentication("the server takes no client secret, only: \(listed)")
  }

  /// The method with its secret; `sign` makes an assertion with it, where the method sends one, and `show` what the client
  /// shows where it connects.
  ///
  /// Throws ``ProtocolError/clientAuthentication(_:)`` when the method needs a secret and there is none.
  package func with(
    _ secret: Secret?, sign: (Secret) throws(ProtocolError) -> Secret,
    show: (Secret) throws(ProtocolError) -> ConnectionCertificate
  ) throws(ProtocolError) -> ClientAuthentication {
    switch (self, secret) {
    case (.none, _): return .none
    case (.clientSecretBasic, let secret?): return .basic(secret)
    case (.clientSecretPost, let secret?): return .post(secret)
    case (.clientSecretJWT, let secret?), (.privateKeyJWT, let secret?): return .assertion(try sign(secret))
    case (.tlsClientAuth, let secret?), (.selfSignedTLSClientAuth, let secret?): return .certificate(try show(secret))
    case (.privateKeyJWT, nil), (.tlsClientAuth, nil), (.selfSignedTLSClientAuth, nil):
      throw .clientAuthentication("\(rawValue) needs a private key, and none is kept")
    case (_, nil): throw .clientAuthentication("\(rawValue) needs a client secret, and none is stored")
    }
  }
}

/// `Basic` and base 64 with padding (RFC 7617 §2, RFC 4648 §4).
private func basicCredentials(_ bytes: UnsafeRawBufferPointer) -> Secret {
  var text = WipedBuffer(capacity: 6 + (bytes.count + 2) / 3 * 4)
  text.append(contentsOf: "Basic ".utf8)
  Base64Text.encode(bytes, into: &text)
  return text.secret()
}
