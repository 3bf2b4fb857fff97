/// `server.find`: where one logs in for a URL. Changes nothing, and sends no secret.
package struct ServerFind: RequestParameters, Equatable {
  package typealias Answer = ServerFindAnswer
  package static let method = Method.serverFind

  package var account: String
  /// TOML text as of an account's file: `issuer` is the URL to begin with, `client_id` is not looked at.
  package var definition: String

  package init(account: String, definition: String) {
    self.account = account
    self.definition = definition
  }

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable { case account, definition }
}

package struct ServerFindAnswer: Codable, Sendable, Equatable {
  /// As the server spells it.
  package var issuer: String
  /// `OAuth metadata` or `OpenID discovery`.
  package var discovery: String
  /// The protected resource that the URL belongs to (RFC 9728); nil: it is the issuer's.
  package var resource: String?
  /// What to ask for there; empty: the server decides.
  package var scope: [String]
  /// Whether clients can be registered (RFC 7591).
  package var registers: Bool
  /// Whether its metadata lists S256 (RFC 7636).
  package var listsPKCE: Bool
  /// The `client_metadata_url` of config.toml, where the server takes it for a client's id; nil: it does not, or none is
  /// named.
  package var clientMetadataURL: String?
  /// Whether it promises to name itself in authorization responses (RFC 9207); nil: an agent from before that is told.
  package var namesIssuer: Bool?
  /// True: the resource takes only tokens that are bound to a key (RFC 9728 §2). Nil: it does not say so.
  package var requiresDPoP: Bool?

  package init(
    issuer: String, discovery: String, resource: String? = nil, scope: [String] = [], registers: Bool = false,
    listsPKCE: Bool = false, clientMetadataURL: String? = nil, namesIssuer: Bool? = nil, requiresDPoP: Bool? = nil
  ) {
    self.issuer = issuer
    self.discovery = discovery
    self.resource = resource
    self.scope = scope
    self.registers = registers
    self.listsPKCE = listsPKCE
    self.clientMetadataURL = clientMetadataURL
    self.namesIssuer = namesIssuer
    self.requiresDPoP = requiresDPoP
  }

  package enum CodingKeys: String, CodingKey {
    case issuer, discovery, resource, scope, registers
    case listsPKCE = "lists_pkce"
    case clientMetadataURL = "client_metadata_url"
    case namesIssuer = "names_issuer"
    case requiresDPoP = "requires_dpop"
  }
}

/// `client.register`: has the issuer of a definition register a public client (RFC 7591). Keeps, sealed, what
/// deletes it there (RFC 7592).
package struct ClientRegister: RequestParameters, Equatable {
  package typealias Answer = ClientRegisterAnswer
  package static let method = Method.clientRegister

  package var account: String
  /// TOML text as of an account's file; `client_id` is not looked at. Its `redirect_uri` is registered, on loopback with a
  /// port that is chosen once and a path of the issuer's own where it has none.
  package var definition: String

  package init(account: String, definition: String) {
    self.account = account
    self.definition = definition
  }

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable { case account, definition }
}

package struct ClientRegisterAnswer: Codable, Sendable, Equatable {
  package var clientID: String
  /// For `secret.set`; some servers give one although none was asked for.
  package var clientSecret: String?
  /// `none`, `client_secret_basic` or `client_secret_post`; nil: the server did not say.
  package var clientAuthentication: String?
  /// What was registered: the definition's, with a port and a path where that left them open.
  package var redirectURI: String?
  /// One sentence without a full stop: what of the answer is not kept. Nil: nothing.
  package var notice: String?

  package init(
    clientID: String, clientSecret: String? = nil, clientAuthentication: String? = nil, redirectURI: String? = nil,
    notice: String? = nil
  ) {
    self.clientID = clientID
    self.clientSecret = clientSecret
    self.clientAuthentication = clientAuthentication
    self.redirectURI = redirectURI
    self.notice = notice
  }

  package enum CodingKeys: String, CodingKey {
    case notice
    case clientID = "client_id"
    case clientSecret = "client_secret"
    case clientAuthentication = "client_authentication"
    case redirectURI = "redirect_uri"
  }
}
