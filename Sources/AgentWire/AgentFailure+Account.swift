/// A message about one account begins with its name, since it may be shown among others. That name stands there once.
extension AgentFailure {
  /// The message with the name of `account` before it.
  package func message(about account: String) -> String { Self.prefix(account) + message(without: account) }

  /// The message where the name of `account` stands already.
  package func message(without account: String) -> String { Self.text(message, without: account) }

  /// The same for a text that was made of a message.
  package static func text(_ text: String, without account: String) -> String {
    text.hasPrefix(prefix(account)) ? String(text.dropFirst(prefix(account).count)) : text
  }

  private static func prefix(_ account: String) -> String { account + ": " }
}

extension AgentFailure {
  /// `file` is the account's.
  package static func noUseForKey(_ account: String, file: String) -> AgentFailure {
    AgentFailure(
      .configInvalid, "\(account): its file names no use for a private key",
      hint:
        "write client_authentication = \"private_key_jwt\" or \"tls_client_auth\", or grant = \"jwt_bearer\", into \(file)"
    )
  }
}
