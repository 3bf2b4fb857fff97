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

  /// Whether one command cannot do it all, so that what it has set up stays. Two secrets and one standard input: the first
  /// command has done its part. A key is registered before it is used, and another account's token is agreed to, or that one
  /// is logged in, by a command of its own.
  func isHalf(_ account: NewAccount) -> Bool {
    clientSecretFromInput && account.effectiveGrant?.terms.need == .password
      || ClientAuthenticationMethod.needsPrivateKey(account.clientAuthentication, account.effectiveGrant)
      || account.effectiveGrant?.terms.need == .otherLogin
  }
}
