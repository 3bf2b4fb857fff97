import HTTPTerms
import OAuthTerms
package import Sealing

/// What became of one hit on the redirect URI.
package enum AuthorizationVerdict: Sendable, Equatable {
  /// Not the answer to this login: keep listening.
  case ignore(AuthorizationIgnored)
  /// The server or the user said no.
  case denied(OAuthError)
  /// It carries our `state` and is still unacceptable: the login ends.
  case refused(AuthorizationRefusal)
  /// The authorization code, 1…8192 printable ASCII characters.
  case code(Secret)
}

/// Why a hit is not the answer to this login.
package enum AuthorizationIgnored: String, Sendable, Equatable {
  case method = "it is not a GET"
  case path = "it is not the address this login waits for"
  case tooLong = "it is longer than 16 KiB"
  case malformed = "it is not a well-formed address"
  case state = "its state is missing, repeated or not the one of this login"
}

/// Why a response that carries our `state` cannot be used.
package enum AuthorizationRefusal: Sendable, Equatable {
  case duplicateParameter(String)
  /// RFC 9207 §2.4: the server promises `iss` and left it out.
  case issuerMissing
  /// RFC 9207 §2.4: the response is another server's. `shown` is escaped.
  case issuerMismatch(shown: String)
  case codeMissing
  case codeMalformed
  case errorMalformed
  case codeAndError
}

/// What an authorization response must show to be ours, and the judgement of each hit (RFC 6749 §4.1.2, RFC 9207).
package struct AuthorizationExpectation: Sendable {
  /// Longest request target or pasted text: 16 KiB.
  package static let limitBytes = 16_384

  /// Nil where the redirect has a scheme of its own.
  private let redirectURL: WebURL?
  private let redirectURI: String
  private let state: Secret
  private let issuer: String?
  private let issuerRequired: Bool
  private let secrets: RequestSecrets

  /// `redirectURI` is the one sent in the authorization request; `issuer` is compared with `iss` when known;
  /// `issuerRequired` is the server's `authorization_response_iss_parameter_supported`. `secrets` are what the login will
  /// send later; neither they nor `state` are found in what a response says.
  ///
  /// Throws ``ProtocolError/url(shown:_:)``.
  package init(
    redirectURI: String, state: Secret, issuer: String?, issuerRequired: Bool, secrets: [Secret] = []
  ) throws(ProtocolError) {
    redirectURL = try PrivateUseScheme.of(redirectURI) == nil ? WebURL.read(redirectURI) : nil
    self.redirectURI = redirectURI
    self.state = state
    self.issuer = issuer
    self.issuerRequired = issuerRequired
    self.secrets = RequestSecrets(secrets + [state], publicTexts: [redirectURI, issuer ?? ""])
  }

  /// Judges a request to the loopback listener by its request line.
  package func judge(method: String, target: String) -> AuthorizationVerdict {
    guard target.utf8.count <= Self.limitBytes else { return .ignore(.tooLong) }
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard let redirectURL else { return .ignore(.path) }
    let path = redirectURL.path.isEmpty ? "/" : redirectURL.path
    guard let first = parts.first, first.utf8.elementsEqual(path.utf8) else { return .ignore(.path) }
    // After the path, so that HEAD and POST of other paths read as what they are: not ours.
    guard method == "GET" else { return .ignore(.method) }
    return judge(query: parts.count > 1 ? parts[1] : "")
  }

  /// Judges the address that a person copied from the browser. Blanks around it and a fragment are dropped.
  package func judge(pasted text: String) -> AuthorizationVerdict {
    guard text.utf8.count <= Self.limitBytes else { return .ignore(.tooLong) }
    let trimmed = text.split(whereSeparator: \.isWhitespace)
    guard trimmed.count == 1, let word = trimmed.first else { return .ignore(.malformed) }
    let address = word.prefix { $0 != "#" }
    let parts = address.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first else { return .ignore(.malformed) }
    guard let redirectURL else {
      guard first.utf8.elementsEqual(redirectURI.utf8) else { return .ignore(.path) }
      return judge(query: parts.count > 1 ? parts[1] : "")
    }
    guard let url = try? WebURL(String(first)) else { return .ignore(.malformed) }
    guard url.origin == redirectURL.origin,
      (url.path.isEmpty ? "/" : url.path) == (redirectURL.path.isEmpty ? "/" : redirectURL.path)
    else { return .ignore(.path) }
    return judge(query: parts.count > 1 ? parts[1] : "")
  }

  private func judge(query: Substring) -> AuthorizationVerdict {
    guard let fields = try? FormFields(decoding: query.utf8) else { return .ignore(.malformed) }
    // Before anything else in it is looked at.
    guard let given = try? fields.only("state"), given == state else { return .ignore(.state) }
    var seen: Set<String> = []
    for name in fields.names where !seen.insert(name).inserted {
      return .refused(.duplicateParameter(Escaped.forTerminal(secrets.cut(from: name), limit: 64)))
    }
    let code = fields.all("code").first
    // A mix-up steals codes. Servers that promise `iss` leave it out of errors, and an error without it ends the login
    // whoever sent it.
    if let refusal = judgeIssuer(fields.all("iss").first), refusal != .issuerMissing || !fields.contains("error") {
      return .refused(refusal)
    }
    if fields.contains("error") {
      guard code == nil else { return .refused(.codeAndError) }
      guard let error = OAuthError(fields, hiding: secrets) else { return .refused(.errorMalformed) }
      return .denied(error)
    }
    guard let code else { return .refused(.codeMissing) }
    guard (1...8_192).contains(code.count), code.consists(of: 0x20...0x7E) else { return .refused(.codeMalformed) }
    return .code(code)
  }

  private func judgeIssuer(_ given: Secret?) -> AuthorizationRefusal? {
    guard let given else { return issuerRequired ? .issuerMissing : nil }
    guard let issuer else { return nil }
    // By bytes: Swift's == takes canonically equivalent spellings for equal.
    guard given.withBytes({ $0.elementsEqual(issuer.utf8) }) else {
      let shown = given.withBytes { secrets.cutPieces(from: String(decoding: $0.prefix(4_096), as: UTF8.self)) }
      return .issuerMismatch(shown: Escaped.forTerminal(shown))
    }
    return nil
  }
}

extension AuthorizationVerdict: CustomStringConvertible {
  /// One sentence without the code.
  package var description: String {
    switch self {
    case .ignore(let reason): "The response is not for this login: \(reason.rawValue)."
    case .denied(let error): "The server did not grant access: \(error)."
    case .refused(let refusal): "The response is refused: \(refusal.description)."
    case .code: "The server granted access."
    }
  }
}

extension AuthorizationRefusal: CustomStringConvertible {
  package var description: String {
    switch self {
    case .duplicateParameter(let name): "its parameter \"\(name)\" appears twice"
    case .issuerMissing: "the server promises to name itself (iss) and did not"
    case .issuerMismatch(let shown): "it comes from another server, \"\(shown)\""
    case .codeMissing: "it holds neither a code nor an error"
    case .codeMalformed: "its code is empty, too long or not printable"
    case .errorMalformed: "its error code is not a well-formed one"
    case .codeAndError: "it holds a code and an error"
    }
  }
}
