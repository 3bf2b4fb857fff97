extension String {
  /// Without white space and quotes at both ends, as they come along with a paste.
  var trimmed: String {
    let isEdge: (Character) -> Bool = { $0.isWhitespace || $0 == "\"" || $0 == "'" || $0 == "<" || $0 == ">" }
    guard let first = firstIndex(where: { !isEdge($0) }), let last = lastIndex(where: { !isEdge($0) }) else {
      return ""
    }
    return String(self[first...last])
  }
}
