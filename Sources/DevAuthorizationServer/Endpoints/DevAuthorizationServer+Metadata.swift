/// Authorization server metadata (RFC 8414 §2; OpenID Connect Discovery 1.0 §3).
extension DevAuthorizationServer {
  func openIDMetadata(_ request: DevRequest) -> DevResponse {
    options.servesOpenIDMetadata ? metadata(request, isOpenID: true) : .text(404, "no such page")
  }

  func oauthMetadata(_ request: DevRequest) -> DevResponse {
    options.servesOAuthMetadata ? metadata(request, isOpenID: false) : .text(404, "no such page")
  }

  private func metadata(_ request: DevRequest, isOpenID: Bool) -> DevResponse {
    guard request.method == "GET" else { return .methodNotAllowed("GET") }
    let issuer = options.issuer
    var members: [(String, JSONText)] = [
      ("issuer", .string(issuer)),
      ("authorization_endpoint", .string(issuer + "/authorize")),
      ("token_endpoint", .string(issuer + "/token")),
      ("device_authorization_endpoint", .string(issuer + "/device_authorization")),
      ("revocation_endpoint", .string(issuer + "/revoke")),
      ("introspection_endpoint", .string(issuer + "/introspect")),
      ("scopes_supported", .strings(options.scopes)),
      ("response_types_supported", .strings(["code"])),
      ("response_modes_supported", .strings(["query"])),
      ("grant_types_supported", .strings(DevGrantType.allCases.map(\.rawValue))),
      (
        "token_endpoint_auth_methods_supported",
        .strings(["none", "client_secret_basic", "client_secret_post"])
      ),
      ("code_challenge_methods_supported", .strings(["S256"])),
    ]
    if options.sendsIssuer { members.append(("authorization_response_iss_parameter_supported", .bool(true))) }
    if isOpenID {
      members += [
        ("userinfo_endpoint", .string(issuer + "/userinfo")),
        ("jwks_uri", .string(issuer + "/keys")),
        ("subject_types_supported", .strings(["public"])),
        ("id_token_signing_alg_values_supported", .strings(["HS256"])),
      ]
    }
    return .json(.object(members), headers: [])
  }
}
