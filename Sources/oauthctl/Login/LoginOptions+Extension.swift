import AgentWire
import OAuthTerms

extension LoginOptions {
  /// A grant that is defined elsewhere (RFC 6749 §4.5) is named by its URI, and the URI alone names the grant.
  ///
  /// - Throws: `CommandError.usage` for the one without the other.
  func setExtension(of account: inout NewAccount) throws(CommandError) {
    guard let grantType else {
      guard account.grant == .extension else { return }
      throw .usage(
        "the extension grant needs the URI of its type: --grant-type is missing",
        next:
          "run the command again with --grant-type URI, and with --token-param KEY=VALUE for each parameter it sends")
    }
    guard account.grant ?? .extension == .extension else {
      throw .usage("--grant-type is for the grant extension, and this one is \(account.grant?.rawValue ?? "")")
    }
    account.grant = .extension
    account.grantType = grantType
  }
}
