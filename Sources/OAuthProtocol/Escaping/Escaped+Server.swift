extension Escaped {
  /// Words of a server that answer no secret, fit to be shown: those that look like a token are left out, since they may be of an
  /// earlier request.
  package static func serverText(_ text: String, limit: Int = 200) -> String {
    forTerminal(RequestSecrets([]).cut(from: text), limit: limit)
  }
}
