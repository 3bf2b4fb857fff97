import OAuthProtocol

/// One request as the log keeps it: nothing secret.
package struct DevLogEntry: Sendable, Equatable {
  /// Counts from 1, never again.
  package var number: Int
  /// Unix seconds.
  package var timeSeconds: Double
  package var method: String
  /// Without the query.
  package var path: String
  package var endpoint: DevEndpoint
  /// Of a form post, at most 64 characters.
  package var grantType: String?
  package var clientID: String?
  /// Of the answer, whether it left or not; 0 when none was made.
  package var status: Int
  /// False when the answer was dropped, cut or never made.
  package var wasAnswered: Bool

  init(number: Int, timeSeconds: Double, request: DevRequest, endpoint: DevEndpoint, response: DevResponse) {
    self.number = number
    self.timeSeconds = timeSeconds
    method = String(request.method.prefix(16))
    path = String(request.path.prefix(256))
    self.endpoint = endpoint
    grantType = DevLogEntry.grantType(of: request, endpoint)
    clientID = DevLogEntry.clientID(of: request, endpoint)
    status = response.status
    wasAnswered = response.delivery == .whole
  }

  private static func form(of request: DevRequest, _ endpoint: DevEndpoint) -> Parameters? {
    guard [.token, .deviceAuthorization, .revoke, .introspect].contains(endpoint),
      request.body.count <= DevAuthorizationServer.formLimit
    else { return nil }
    return FormText.decode(request.body).map(Parameters.init)
  }

  static func grantType(of request: DevRequest, _ endpoint: DevEndpoint) -> String? {
    form(of: request, endpoint)?["grant_type"].map { String($0.prefix(64)) }
  }

  private static func clientID(of request: DevRequest, _ endpoint: DevEndpoint) -> String? {
    guard let form = form(of: request, endpoint) else { return nil }
    let basic = request.headers.value("Authorization").flatMap(BasicCredentials.decode)
      .flatMap { FormText.percentDecode(Array($0.name.utf8)) }
    return (form["client_id"] ?? basic).map { String($0.prefix(64)) }
  }

  var json: JSONText {
    var members: [(String, JSONText)] = [
      ("number", .number(number)), ("time_ms", .number(Int(timeSeconds * 1_000))), ("method", .string(method)),
      ("path", .string(path)), ("endpoint", .string(endpoint.rawValue)),
    ]
    if let grantType { members.append(("grant_type", .string(grantType))) }
    if let clientID { members.append(("client_id", .string(clientID))) }
    return .object(members + [("status", .number(status)), ("answered", .bool(wasAnswered))])
  }
}
