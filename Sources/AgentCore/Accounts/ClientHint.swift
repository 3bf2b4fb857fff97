import AgentWire
import OAuthTerms

/// What to do when the server does not accept the client.
enum ClientHint {
  /// Of a login that works but for that: the server may have been wrong, or have been mended.
  /// `waitSeconds`: it was asked just now, and is not asked again before these are over.
  static func ofLogin(_ name: String, method: String?, waitSeconds: Int? = nil) -> NextStep {
    let asked =
      waitSeconds.map { "the server was asked just now; in \($0) s" }
      ?? "the server is asked again within the hour, or"
    return .advice("\(asked) by: oauthctl get-token \(name) --force; " + text(name, method: method).text)
  }

  private static func forget(_ name: String) -> String { "oauthctl secret forget \(name) client_secret" }

  /// `method` is how the client proved itself, as it is bound.
  static func text(_ name: String, method: String?) -> NextStep {
    let check = "check client_id and client secret: oauthctl secret set \(name) client_secret"
    switch method.flatMap(ClientAuthenticationMethod.init) {
    case ClientAuthenticationMethod.none?, nil:
      return .advice(
        "if the client has a secret: oauthctl secret set \(name) client_secret && oauthctl login \(name); else check client_id "
          + "in the account's file, then: oauthctl login \(name)")
    case .clientSecretBasic?:
      return .advice(
        check + "; if both are right, the server may want the secret in the body: in the account's file, "
          + "client_authentication = \"client_secret_post\"; if the client has no secret: " + forget(name))
    case .clientSecretPost?:
      return .advice(
        check + "; if both are right, the server may want the secret in the header: in the account's file, "
          + "client_authentication = \"client_secret_basic\"; if the client has no secret: " + forget(name))
    case .clientSecretJWT?: return .advice(check + "; if both are right: " + audience)
    case .privateKeyJWT?:
      return .advice(
        "check client_id, and that the server has this key: oauthctl key show \(name); if it has: " + audience)
    case .tlsClientAuth?, .selfSignedTLSClientAuth?:
      return .advice(
        "check client_id, and that the server knows this certificate: oauthctl key show \(name) --certificate")
    }
  }

  /// Where the server ends the connection, since it wants a certificate that it was not shown. `name` is the account's.
  static func certificate(_ name: String) -> NextStep {
    .advice(
      "check that the server knows the certificate and it has not ended: oauthctl key show \(name) --certificate; to show "
        + "another: oauthctl key import \(name) < FILE")
  }

  private static let audience =
    "some servers want assertion_audience = \"token_endpoint\" or \"endpoint\" in the account's file, and all want a clock "
    + "that is right"
}
