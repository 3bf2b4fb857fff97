/// What curl's headers say about the token that it sent.
extension HeaderDump {
  /// Whether the body that follows is to be passed on at once: not that of a redirect that curl may follow, nor of a
  /// 401.
  package var isSettled: Bool {
    guard isWhole, status != 401 || hasLeftOrigin else { return false }
    return !(300...399).contains(status) || !fields.contains { $0.name == "location" }
  }

  /// Whether the server refused the token and may take a newer one. Many servers send a 401 without any challenge, though
  /// RFC 9110 §11.6.1 wants one: it says nothing against a try. `scheme`: of the token that was sent, in lower case.
  package func isRejection(_ scheme: String = "bearer") -> Bool {
    status == 401 && !hasLeftOrigin && (challenges.isEmpty || asksForNewToken(scheme))
  }
}
