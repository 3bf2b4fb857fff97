import AgentWire
import HTTPTerms
import OAuthTerms
import Sealing
import Signing

/// Why a client cannot prove itself with what is kept of it, or where it is to. No waiting ends that, so it is told before
/// anything is sent.
enum ClientObstacle: Sendable, Equatable {
  case unknownMethod
  case noSecret
  case noKey
  case noCertificate
  /// It would be sent as a secret.
  case keyForSecret
  case secretForKey
  /// A certificate is shown in the handshake of TLS (RFC 8705 §2), and this endpoint has none.
  case noTLS(String)

  /// Nil: it can. `secret` is the client secret or the private key that is kept for the server. `endpoint` is where it is to
  /// prove itself; nil: only what is kept is looked at.
  init?(_ method: String, _ secret: Secret?, to endpoint: WebURL? = nil) {
    guard let method = ClientAuthenticationMethod(rawValue: method) else {
      self = .unknownMethod
      return
    }
    guard let proof = method.proof else { return nil }
    if let endpoint, proof == .certificate, endpoint.origin.scheme != .https {
      self = .noTLS(endpoint.text)
      return
    }
    switch (proof, secret.map(ClientKey.isStored)) {
    case (.sharedSecret, false?), (.privateKey, true?): return nil
    case (.certificate, true?):
      if secret.map(ClientKey.hasCertificate) == true { return nil }
      self = .noCertificate
    case (.sharedSecret, nil): self = .noSecret
    case (.privateKey, nil), (.certificate, nil): self = .noKey
    case (.sharedSecret, true?): self = .keyForSecret
    case (.privateKey, false?), (.certificate, false?): self = .secretForKey
    }
  }

  /// Without the account's name.
  func reason(_ method: String) -> String {
    switch self {
    case .unknownMethod: "\(method) is not a known way to authenticate a client; nothing is sent"
    case .noSecret: "\(method) needs a client secret, and none is kept; nothing is sent"
    case .noKey: "\(method) needs a private key, and none is kept; nothing is sent"
    case .noCertificate: "\(method) needs a certificate of the key, and none is kept; nothing is sent"
    case .keyForSecret: "what is kept is a private key, which \(method) would send; nothing is sent"
    case .secretForKey: "what is kept is a client secret, and \(method) needs a private key; nothing is sent"
    case .noTLS(let endpoint):
      "\(method) shows a certificate, which needs TLS, and \(endpoint) has none; nothing is sent"
    }
  }

  /// `name` is the account's, `method` its client's.
  func hint(_ name: String, _ method: String?) -> NextStep {
    switch self {
    case .unknownMethod: .advice("put client_authentication in the file of \(name) right")
    case .noSecret: .run("oauthctl secret set \(name) client_secret")
    case .noKey:
      .run(
        "oauthctl key create \(name)   # or, for one that is there: "
          + ClientAuthenticationMethod.keyImport(name, method.flatMap(ClientAuthenticationMethod.init)))
    case .noCertificate: .run("oauthctl key import \(name) < FILE   # the certificate of the key that is kept, in PEM")
    case .keyForSecret:
      .advice(
        "put client_authentication in the file of \(name) back to what it was; or give a client secret: "
          + "oauthctl key delete \(name), then: oauthctl secret set \(name) client_secret")
    case .secretForKey: .run("oauthctl key create \(name) --replace   # then register what it prints")
    case .noTLS:
      .advice("in the file of \(name), name the server's https:// address, or another client_authentication")
    }
  }
}
