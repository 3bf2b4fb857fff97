package import HTTPTerms
package import Sealing

/// A device authorization request (RFC 8628 §3.1).
package struct DeviceAuthorizationRequest: Sendable {
  package var endpoint: WebURL
  package var client: OAuthClient
  package var scope: [String]
  package var scopeSeparator = ScopeSeparator.blank
  package var resources: [String]
  package var audiences: [String]
  package var extra: [ExtraParameter]

  package init(
    endpoint: WebURL, client: OAuthClient, scope: [String] = [], resources: [String] = [], audiences: [String] = [],
    extra: [ExtraParameter] = []
  ) {
    self.endpoint = endpoint
    self.client = client
    self.scope = scope
    self.resources = resources
    self.audiences = audiences
    self.extra = extra
  }

  /// Throws ``ProtocolError`` for a reserved, repeated or malformed parameter, a malformed scope or resource.
  package func httpRequest() throws(ProtocolError) -> HTTPRequest {
    var form = FormParameters()
    try form.append(scope: scope, scopeSeparator, resources: resources, audiences: audiences, extra: extra)
    return .form(endpoint, client: client, form)
  }
}

/// What a person needs to grant access from another device (RFC 8628 §3.2).
package struct DeviceAuthorization: Sendable {
  package let deviceCode: Secret
  /// 1…64 letters, digits and signs in groups, to be typed.
  package let userCode: String
  package let verificationURI: WebURL
  /// Holds the user code already; nil when the server gives none, or one that is malformed or elsewhere.
  package let verificationURIComplete: WebURL?
  /// 1…3600 seconds; 600 where the server does not say it in a usable way.
  package let expiresInSeconds: Int
  /// 1…300 seconds between polls; 5 where the server does not say.
  package let intervalSeconds: Int
}

package enum DeviceAuthorizationVerdict: Sendable {
  case authorized(DeviceAuthorization)
  case refused(OAuthError)
  case unusable(EndpointProblem, retryAfterSeconds: Int?)
}

extension DeviceAuthorizationVerdict {
  /// What the answer says is freed of the secrets of `request`. `now` is Unix seconds, for a `Retry-After` that is a date.
  package init(judging answer: HTTPAnswer, to request: HTTPRequest, now: Int64) {
    do throws(EndpointProblem) {
      let secrets = RequestSecrets(of: request)
      switch try EndpointAnswer(answer, hiding: secrets) {
      case .members(let object): self = .authorized(try DeviceAuthorization(object, hiding: secrets))
      case .refused(let error): self = .refused(error)
      }
    } catch {
      self = .unusable(error, retryAfterSeconds: RetryAfter.seconds(in: answer.headers, now: now))
    }
  }
}

extension DeviceAuthorization {
  init(_ object: JSONObject, hiding secrets: RequestSecrets) throws(EndpointProblem) {
    let names = ["device_code", "user_code", "verification_uri", "verification_url"]
    if let name = object.repeated(names) { throw .member(name: name, reason: "it appears twice") }
    guard case .string(let code) = object.value("device_code"), (1...8_192).contains(code.count),
      code.consists(of: 0x20...0x7E)
    else { throw .member(name: "device_code", reason: "it is missing or not printable") }
    guard let userCode = object.text("user_code", limit: 32), !userCode.isEmpty, Self.isCode(userCode) else {
      throw .member(name: "user_code", reason: "it is missing, too long, or no code that somebody could type")
    }
    guard !secrets.appear(in: userCode) else { throw .member(name: "user_code", reason: "it repeats a secret") }
    // Google and older drafts say "url".
    guard let address = object.text("verification_uri", limit: 4_096) ?? object.text("verification_url", limit: 4_096)
    else { throw .member(name: "verification_uri", reason: "it is missing") }
    guard !secrets.appear(in: address) else { throw .member(name: "verification_uri", reason: "it repeats a secret") }
    do {
      verificationURI = try .read(address)
    } catch {
      throw .member(name: "verification_uri", reason: secrets.cut(from: error.description))
    }
    let complete =
      object.text("verification_uri_complete", limit: 4_096) ?? object.text("verification_url_complete", limit: 4_096)
    deviceCode = code
    self.userCode = userCode
    let page = verificationURI
    verificationURIComplete = complete.flatMap { text in
      guard !secrets.appear(in: text), let url = try? WebURL(text), Self.isSame(page, url, with: userCode) else {
        return nil
      }
      return url
    }
    expiresInSeconds = min(TokenLifetime(object.value("expires_in")).knownSeconds ?? 600, 3_600)
    // A server that names a longer one than its codes last is asked all the same, before they end.
    intervalSeconds = min(TokenLifetime(object.value("interval")).knownSeconds ?? 5, 300, max(5, expiresInSeconds / 4))
  }
}

extension DeviceAuthorization {
  /// Letters and digits, with `-` and `_` in them (RFC 8628 §6.1), or at most four groups of capitals and digits: no address that
  /// a browser takes, and no command that a shell does.
  private static func isCode(_ text: String) -> Bool {
    let groups = text.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    return groups.count <= 4
      && groups.allSatisfy { group in
        !group.isEmpty && group.allSatisfy { isDigit($0) || isLetter($0) || "-_".utf8.contains($0) }
      } && (groups.count == 1 || !text.utf8.contains { isLowercase($0) })
  }

  /// Whether `complete` is the page with the code in it (RFC 8628 §3.3.1), so that whoever has looked at the one knows the other.
  private static func isSame(_ page: WebURL, _ complete: WebURL, with code: String) -> Bool {
    let path = page.path.utf8.last == UInt8(ascii: "/") ? page.path.dropLast() : page.path[...]
    guard complete.origin == page.origin, complete.path.utf8.starts(with: path.utf8) else { return false }
    let below = Array(complete.path.utf8.dropFirst(path.utf8.count)), wanted = typed(Array(code.utf8))
    guard var more = members(complete), let plain = members(page) else { return false }
    // Whatever else the server reads there may be another code.
    for member in plain {
      guard let index = more.firstIndex(where: { $0 == member }) else { return false }
      more.remove(at: index)
    }
    guard below.isEmpty || below == [UInt8(ascii: "/")] else {
      return below.first == UInt8(ascii: "/") && typed(below) == wanted && more.isEmpty
    }
    return more.count == 1 && HTTPToken.isToken(more[0].name) && typed(more[0].value) == wanted
  }

  private static func members(_ url: WebURL) -> [(name: String, value: [UInt8])]? {
    (try? FormFields(decoding: (url.query ?? "").utf8))?.members.map { ($0.name, $0.value.withBytes { Array($0) }) }
  }

  /// What counts of a code that is typed: no capitals, blanks and dashes.
  private static func typed(_ text: [UInt8]) -> [UInt8] {
    text.compactMap { isLetter($0) ? $0 | 0x20 : " -_/".utf8.contains($0) ? nil : $0 }
  }

  private static func isLowercase(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte }
}

extension DeviceAuthorizationVerdict: CustomStringConvertible {
  /// One sentence for people, without secrets and safe to show.
  package var description: String {
    switch self {
    case .authorized: "The server waits for the code to be entered."
    case .refused(let error): "The server refused the device login: \(error.told)."
    case .unusable(let problem, let wait):
      "The server's answer is of no use: \(problem)" + (wait.map { "; it asks to wait \($0) s." } ?? ".")
    }
  }
}
