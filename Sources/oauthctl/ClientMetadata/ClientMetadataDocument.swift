import OAuthTerms

/// A client metadata document (draft-ietf-oauth-client-id-metadata-document §4): a native, public client with the members
/// of RFC 7591 §2.
struct ClientMetadataDocument: Encodable {
  /// `client_id` has to be the URL itself, to the letter.
  let url: String
  let clientName = ClientMetadata.clientName
  let redirectURIs = ClientMetadata.redirectURIs
  let grantTypes = ClientMetadata.grants.map(\.terms.type) + ["refresh_token"]
  let responseTypes = ["code"]
  let authentication = ClientAuthenticationMethod.none.rawValue
  /// OpenID Connect Dynamic Client Registration §2: redirects on loopback are a native client's.
  let applicationType = "native"

  enum CodingKeys: String, CodingKey {
    case url = "client_id"
    case clientName = "client_name"
    case redirectURIs = "redirect_uris"
    case grantTypes = "grant_types"
    case responseTypes = "response_types"
    case authentication = "token_endpoint_auth_method"
    case applicationType = "application_type"
  }
}
