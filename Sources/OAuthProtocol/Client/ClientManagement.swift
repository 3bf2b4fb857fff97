package import HTTPTerms
package import Sealing

/// Where a client that was registered dynamically can be deleted, and by which token (RFC 7592 §3).
package struct ClientManagement: Sendable, Equatable {
  /// `registration_client_uri`, of the registration endpoint's origin: its token is sent nowhere else.
  package var uri: WebURL
  /// `registration_access_token`, 1 to ``tokenLimit`` printable ASCII characters.
  package var accessToken: Secret

  package init(uri: WebURL, accessToken: Secret) {
    self.uri = uri
    self.accessToken = accessToken
  }

  private static let tokenLimit = 4_096

  /// What a registration answer says of it.
  enum Reading: Sendable, Equatable {
    case absent
    case found(ClientManagement)
    /// One sentence, escaped.
    case refused(String)
  }

  static func read(_ body: JSONObject, from endpoint: WebURL) -> Reading {
    let members = ["registration_client_uri", "registration_access_token"]
    if let name = body.repeated(members) { return .refused("\(name) appears twice") }
    guard case .string(let address)? = body.value(members[0]), case .string(let token)? = body.value(members[1]) else {
      return .absent
    }
    guard let text = address.text(limit: WebURL.limitBytes), let uri = try? WebURL(text) else {
      return .refused("its registration_client_uri is no usable URL")
    }
    guard uri.origin == endpoint.origin else {
      return .refused("its registration_client_uri is at \(uri.origin), and not at \(endpoint.origin)")
    }
    guard let plain = token.text(limit: tokenLimit), !plain.isEmpty,
      plain.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return .refused("its registration_access_token cannot be sent") }
    return .found(ClientManagement(uri: uri, accessToken: token))
  }

  /// Deletes the client (RFC 7592 §2.3).
  package func deletion() -> HTTPRequest {
    HTTPRequest(
      .delete, uri.text, headers: [HTTPField("Accept", "application/json")],
      credentials: accessToken.withBytes { Secret(Array("Bearer ".utf8) + Array($0)) })
  }
}

/// What the server made of a request to delete a client (RFC 7592 §2.3).
package enum ClientDeletionVerdict: Sendable, Equatable {
  /// Deleted, or not there any more.
  case done
  /// Keep the token and try again; `retryAfterSeconds` is the server's wish, 0…3600.
  case later(status: Int, retryAfterSeconds: Int?)
  case refused(status: Int)

  /// `now` is Unix seconds, for a `Retry-After` that is a date.
  package init(judging answer: HTTPAnswer, now: Int64) {
    switch answer.status {
    case 200..<300, 404, 410: self = .done
    case 408, 429, 500...:
      self = .later(status: answer.status, retryAfterSeconds: RetryAfter.seconds(in: answer.headers, now: now))
    default: self = .refused(status: answer.status)
    }
  }
}

extension ClientDeletionVerdict: CustomStringConvertible {
  /// One sentence for people.
  package var description: String {
    switch self {
    case .done: "The server deleted the client."
    case .later(let status, let wait):
      "The server cannot delete the client now (status \(status))" + (wait.map { "; it asks to wait \($0) s." } ?? ".")
    case .refused(401): "The server does not know the client, or the token that it gave to delete it, any more."
    case .refused(let status): "The server refused to delete the client with status \(status)."
    }
  }
}
