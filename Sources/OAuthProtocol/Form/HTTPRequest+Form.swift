import HTTPTerms

extension HTTPRequest {
  /// A POST of form data by an authenticated client that asks for JSON (RFC 6749 §2.3, §3.2): token, device
  /// authorization, pushed authorization request and revocation endpoints.
  static func form(_ endpoint: WebURL, client: OAuthClient, _ parameters: FormParameters) -> HTTPRequest {
    var parameters = parameters
    let credentials = client.authenticate(&parameters)
    let headers = [
      HTTPField("Accept", "application/json"), HTTPField("Content-Type", "application/x-www-form-urlencoded"),
    ]
    var request = HTTPRequest(
      .post, endpoint.text, headers: headers, credentials: credentials, body: parameters.encodedBody())
    if case .certificate(let certificate) = client.authentication { request.certificate = certificate }
    return request
  }
}
