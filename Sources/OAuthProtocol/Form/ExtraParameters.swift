import HTTPTerms

/// Parameters that an account adds to what the protocol sends, in order.
package struct ExtraParameter: Sendable, Hashable {
  package var name: String
  package var value: String

  package init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}

/// Which names an account may add to which request.
package enum ExtraParameters {
  /// Names of the authorization request that only the protocol sets; a name beginning with `code_challenge` is one too.
  package static let reservedForAuthorization: Set<String> = [
    "response_type", "client_id", "redirect_uri", "state", "nonce", "scope", "request", "request_uri", "response_mode",
    "dpop_jkt",
  ]

  /// Names of token and device authorization requests that only the protocol sets.
  package static let reservedForToken: Set<String> = [
    "grant_type", "client_id", "client_secret", "client_assertion", "client_assertion_type", "assertion", "code",
    "code_verifier",
    "redirect_uri", "refresh_token", "username", "password", "device_code", "scope", "subject_token",
    "subject_token_type", "actor_token", "actor_token_type", "requested_token_type",
  ]

  /// Throws ``ProtocolError/reservedParameter(_:)`` for a reserved name, ``ProtocolError/duplicateParameter(_:)`` for a
  /// repeated one, ``ProtocolError/parameter(name:reason:)`` for a malformed one. `resource` and `audience` may repeat.
  package static func checkForAuthorization(_ extra: [ExtraParameter]) throws(ProtocolError) {
    try check(extra) { reservedForAuthorization.contains($0) || $0.hasPrefix("code_challenge") }
    // What the ID token is held against (OpenID Connect Core 1.0 §3.1.2.1): one that cannot be read would not be.
    for age in extra where age.name == "max_age" && Int(age.value).map({ $0 >= 0 }) != true {
      throw .parameter(name: age.name, reason: "it is a whole number of seconds")
    }
  }

  /// Throws as ``checkForAuthorization(_:)``.
  package static func checkForToken(_ extra: [ExtraParameter]) throws(ProtocolError) {
    try check(extra) { reservedForToken.contains($0) }
  }

  /// The name as a server may read it: some take capitals for small letters, and other signs for `_`.
  private static func folded(_ name: String) -> String {
    let letters = name.utf8.map { isDigit($0) || isLetter($0) ? $0 : UInt8(ascii: "_") }
    return String(decoding: letters, as: UTF8.self).lowercased().split(separator: "_").joined(separator: "_")
  }

  private static func check(_ extra: [ExtraParameter], reserved: (String) -> Bool) throws(ProtocolError) {
    var seen: Set<String> = ["resource", "audience"]
    for parameter in extra {
      let shown = Escaped.forTerminal(parameter.name, limit: 64)
      // Of brackets, and of what else servers split names at, each makes something of its own.
      guard (1...128).contains(parameter.name.utf8.count),
        parameter.name.utf8.allSatisfy({ isDigit($0) || isLetter($0) || "-._~:/".utf8.contains($0) })
      else { throw .parameter(name: shown, reason: "a name has 1 to 128 letters, digits and -._~:/") }
      guard parameter.value.utf8.count <= 2_048, !parameter.value.unicodeScalars.contains(where: { $0.value < 0x20 })
      else { throw .parameter(name: shown, reason: "a value has at most 2048 bytes and no control characters") }
      guard !reserved(parameter.name), !reserved(folded(parameter.name)) else { throw .reservedParameter(shown) }
      guard !seen.contains(parameter.name) || parameter.name == "resource" || parameter.name == "audience" else {
        throw .duplicateParameter(shown)
      }
      seen.insert(parameter.name)
    }
  }
}

/// What is asked for beside the grant itself.
package enum RequestedAccess {
  /// Throws unless every entry is a scope-token of RFC 6749 §3.3.
  package static func checkScope(_ scope: [String]) throws(ProtocolError) {
    for token in scope where !ScopeList.isToken(token) {
      throw .parameter(
        name: "scope",
        reason:
          "\"\(Escaped.forTerminal(UserInfo.cut(from: token), limit: 64))\" is empty, too long or holds a blank or quote"
      )
    }
  }

  /// Throws unless every entry is an absolute URI without fragment (RFC 8707 §2).
  package static func checkResources(_ resources: [String]) throws(ProtocolError) {
    for resource in resources {
      guard !UserInfo.stands(in: resource) else {
        throw .parameter(name: "resource", reason: URLProblem.userInfo.rawValue)
      }
      let scheme = resource.prefix { $0 != ":" }
      guard (1...2_048).contains(resource.utf8.count), scheme.count < resource.count, let first = scheme.utf8.first,
        (0x41...0x5A).contains(first & 0xDF), scheme.utf8.allSatisfy(isSchemeByte),
        resource.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") })
      else {
        throw .parameter(
          name: "resource",
          reason:
            "\"\(Escaped.forTerminal(UserInfo.cut(from: resource), limit: 64))\" is not an absolute URI without fragment"
        )
      }
    }
  }

  private static func isSchemeByte(_ byte: UInt8) -> Bool {
    isDigit(byte) || (0x41...0x5A).contains(byte & 0xDF) || byte == 0x2B || byte == 0x2D || byte == 0x2E
  }
}
