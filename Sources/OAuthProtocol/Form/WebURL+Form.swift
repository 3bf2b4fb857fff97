package import HTTPTerms

extension WebURL {
  /// Reads what a person or a server wrote, for callers that tell which URL was refused.
  ///
  /// Throws ``ProtocolError/url(shown:_:)``.
  package static func read(_ text: String) throws(ProtocolError) -> WebURL {
    do { return try WebURL(text) } catch { throw .url(shown: Escaped.forTerminal(text), error) }
  }

  /// The URL with `parameters` appended to its query; its own query is kept (RFC 6749 §3.1).
  ///
  /// Throws ``ProtocolError/duplicateParameter(_:)`` when the URL's own query holds one of their names already.
  package func appendingQuery(_ parameters: FormParameters) throws(ProtocolError) -> String {
    guard let query else { return text + "?" + parameters.encodedQuery() }
    let own = try FormFields(decoding: query.utf8)
    for name in parameters.names where own.contains(name) { throw .duplicateParameter(name) }
    return text + (query.isEmpty || query.hasSuffix("&") ? "" : "&") + parameters.encodedQuery()
  }
}
