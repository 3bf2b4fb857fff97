import AgentWire
import HTTPTerms
import OAuthProtocol

/// Rules for single values. Each gives nil for a good value, else a reason that shows nothing of a value that may hold a
/// secret.
enum ValueRules {
  /// What `read` has against a value: without the value, which the file shows.
  private static func problem(_ read: () throws(ProtocolError) -> Void) -> String? {
    do {
      try read()
      return nil
    } catch {
      switch error {
      case .issuer(_, let reason), .redirectURI(_, let reason), .parameter(_, let reason): return reason
      case .url, .reservedParameter, .duplicateParameter, .malformedForm, .clientAuthentication, .tooFewRandomBytes:
        return "\(error)"
      }
    }
  }

  static func issuer(_ text: String) -> String? {
    problem { () throws(ProtocolError) in _ = try Issuer(text) }
  }

  static func endpoint(_ text: String) -> String? {
    do {
      _ = try WebURL(text)
      return nil
    } catch {
      return error.rawValue
    }
  }

  static func redirectURI(_ text: String) -> String? {
    problem { () throws(ProtocolError) in _ = try RedirectURI(text) }
  }

  private static func quoted(_ text: String, limit: Int) -> String {
    "\"\(PrintableText.escaped(UserInfo.cut(from: text), limit: limit))\""
  }

  static func host(_ text: String) -> String? {
    do {
      _ = try Origin(hostEntry: text)
      return nil
    } catch {
      return "\(quoted(text, limit: 80)): \(error.rawValue)"
    }
  }

  /// A scope-token of RFC 6749 §3.3.
  static func scope(_ text: String) -> String? {
    ScopeList.isToken(text)
      ? nil : "\(quoted(text, limit: 64)) is empty, too long or holds a blank, quote or backslash"
  }

  /// RFC 8707 §2.
  static func resource(_ text: String) -> String? {
    problem { () throws(ProtocolError) in try RequestedAccess.checkResources([text]) }
  }

  static func audience(_ text: String) -> String? {
    UserInfo.stands(in: text) ? URLProblem.userInfo.rawValue : plainText(text, limitBytes: 2_048)
  }

  static func clientID(_ text: String) -> String? {
    problem { () throws(ProtocolError) in _ = try OAuthClient(id: text) }
  }

  /// A user name as Basic credentials can carry it: without a colon (RFC 7617 §2).
  static func basicUsername(_ text: String) -> String? {
    text.utf8.contains(UInt8(ascii: ":"))
      ? "it holds a colon, which ends the user name in Basic credentials" : plainText(text, limitBytes: 255)
  }

  /// The beginning of a URL's path, in whole segments.
  static func pathPrefix(_ text: String) -> String? {
    let plain = withoutOuterSlashes(text)
    guard (1...1_024).contains(plain.utf8.count) else { return "it is a path of 1 to 1024 bytes, like team/app" }
    do {
      let url = try WebURL("https://a/" + plain)
      return url.query == nil ? nil : "it holds a ?"
    } catch {
      return "\(quoted(text, limit: 80)) is no path: \(error.rawValue)"
    }
  }

  static func withoutOuterSlashes(_ text: String) -> String {
    var text = text[...]
    while text.hasPrefix("/") { text = text.dropFirst() }
    while text.hasSuffix("/") { text = text.dropLast() }
    return String(text)
  }

  static func plainText(_ text: String, limitBytes: Int) -> String? {
    guard (1...limitBytes).contains(text.utf8.count) else { return "it has 1 to \(limitBytes) bytes" }
    let hasControls = text.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
    return hasControls ? "it holds a control character" : nil
  }

  /// What proxies are not used for: a host, a domain with or without a leading dot, an address, a range of addresses, or
  /// `*`.
  static func noProxy(_ text: String) -> String? {
    if text == "*" || AddressRange(text) != nil { return nil }
    let name = text.hasPrefix(".") ? String(text.dropFirst()) : text
    return host(name).map { _ in "\(quoted(text, limit: 80)) is no host, domain, address or range (10.0.0.0/8)" }
  }
}
