/// A server that does not take the certificate of its client says so by an alert of TLS (RFC 8446 §6.2). In TLS 1.3 that comes
/// after the client has sent its request, in place of an answer: the server's end of the handshake failed, and nothing behind
/// the handshake was read.
///
/// Where the connection is reset and the alert is lost, nobody can tell this from an answer that was lost.
enum ClientCertificateRefusal {
  /// What a server says that was shown none: bad certificate (TLS 1.2), certificate required.
  private static let alertsForNone = [42, 116]

  /// What the server said, for people; nil: the failure is another one.
  static func told(_ text: String, wasShown: Bool) -> String? {
    guard let alert = OpenSSLReason(in: text)?.alert, let reason = reason(alert) else { return nil }
    if wasShown { return "the server refused the client's certificate (\(reason))" }
    return alertsForNone.contains(alert)
      ? "the server takes only clients that show a certificate (mutual TLS), and none was shown" : nil
  }

  private static func reason(_ alert: Int) -> String? {
    switch alert {
    case 42: "bad certificate"
    case 43: "unsupported certificate"
    case 44: "certificate revoked"
    case 45: "certificate expired"
    case 46: "certificate unknown"
    case 48: "unknown authority"
    case 49: "access denied"
    case 116: "certificate required"
    default: nil
    }
  }
}
