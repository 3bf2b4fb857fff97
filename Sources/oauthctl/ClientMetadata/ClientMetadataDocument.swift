import OAuthTerms

/// A client metadata document (draft-ietf-oauth-client-id-metadata-document §4): a native client with the members of RFC 7591
/// §2; public, or with a private key. There is no secret that it could share with every server.
struct ClientMetadataDocument: Encodable {
  /// A JWK set (RFC 7517 §5).
  struct KeySet: Encodable {
    var keys: [PublicKey]
  }

  /// A public JWK (RFC 7517 §4, RFC 7518 §6) as `key show` prints it.
  struct PublicKey: Codable {
    let kty: String
    let crv, x, y, n, e: String?
    let alg, kid, use: String?
    /// With certificates of the key's.
    let x5c: [String]?
  }

  /// `client_id` has to be the URL itself, to the letter.
  let url: String
  let clientName = ClientMetadata.clientName
  /// A page about the client, of the URL's own origin.
  var page: String?
  var redirectURIs = ClientMetadata.redirectURIs
  private var grantTypes: [String] = []
  private var responseTypes: [String] = []
  var authentication = ClientAuthenticationMethod.none
  /// Of its assertions; nil: any one.
  var algorithm: String?
  /// Of ``authentication`` by a key: the keys, or where they are served.
  var keys: KeySet?
  var keysURL: String?
  var scope: String?
  /// RFC 9449 §5.2
  var usesDPoP: Bool?
  /// OpenID Connect Dynamic Client Registration §2: redirects on loopback are a native client's.
  let applicationType = "native"

  init(url: String) {
    self.url = url
    takeGrants()
  }

  /// How people log in with it.
  var grants = ClientMetadata.grants { didSet { takeGrants() } }

  private mutating func takeGrants() {
    grantTypes = grants.compactMap(\.terms.type) + ["refresh_token"]
    responseTypes = grants.contains(.authorizationCode) ? ["code"] : []
  }

  enum CodingKeys: String, CodingKey {
    case scope
    case url = "client_id"
    case clientName = "client_name"
    case page = "client_uri"
    case redirectURIs = "redirect_uris"
    case grantTypes = "grant_types"
    case responseTypes = "response_types"
    case authentication = "token_endpoint_auth_method"
    case algorithm = "token_endpoint_auth_signing_alg"
    case keys = "jwks"
    case keysURL = "jwks_uri"
    case usesDPoP = "dpop_bound_access_tokens"
    case applicationType = "application_type"
  }
}
