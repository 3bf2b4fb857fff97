import AgentWire
package import OAuthProtocol

/// The tokens of other accounts that a grant is made of (RFC 8693 §2.1): as the account's file names them, or as a login is
/// bound to them.
package struct LentTokens: Sendable, Equatable, Codable {
  /// Whom the new token will stand for.
  package var subject: LentToken
  /// Who acts for that one, where somebody does.
  package var actor: LentToken?
  /// The URI of what is to be issued; nil: the server decides.
  package var requestedType: String?

  package init(subject: LentToken, actor: LentToken? = nil, requestedType: String? = nil) {
    self.subject = subject
    self.actor = actor
    self.requestedType = requestedType
  }

  var all: [LentToken] { [subject] + (actor.map { [$0] } ?? []) }

  var names: LentTokenNames {
    var names = LentTokenNames(subjectAccount: subject.account, subjectTokenType: subject.kind.rawValue)
    (names.actorAccount, names.actorTokenType) = (actor?.account, actor?.kind.rawValue)
    names.requestedTokenType = requestedType
    return names
  }

  /// The same for texts that are shown, by the keys of an account file.
  static func differences(_ was: LentTokens?, _ now: LentTokens?) -> [DefinitionDifference] {
    LentToken.differences("subject", was?.subject, now?.subject)
      + LentToken.differences("actor", was?.actor, now?.actor)
      + [DefinitionDifference("requested_token_type", from: was?.requestedType, to: now?.requestedType)].compactMap(
        \.self)
  }

  /// Every member, for a digest.
  var digested: [String] {
    all.flatMap { [$0.account, $0.kind.rawValue, $0.issuer ?? ""] } + [requestedType ?? ""]
  }

  private enum CodingKeys: String, CodingKey {
    case subject, actor
    case requestedType = "requested_token_type"
  }
}

/// A token that another account lends.
package struct LentToken: Sendable, Equatable, Codable {
  package var account: String
  package var kind: TokenKind
  /// Where that account was logged in when a person agreed; nil: not known, as in a file, which names the account alone.
  package var issuer: String?

  package init(account: String, kind: TokenKind = .accessToken, issuer: String? = nil) {
    self.account = account
    self.kind = kind
    self.issuer = issuer
  }

  fileprivate static func differences(_ role: String, _ was: LentToken?, _ now: LentToken?) -> [DefinitionDifference] {
    // A file does not say where the account is logged in: that is compared where both sides know it.
    let withIssuers = was.map { $0.issuer != nil } != false && now.map { $0.issuer != nil } != false
    func account(_ token: LentToken?) -> String? {
      token.map { $0.account + (withIssuers ? $0.issuer.map { ", at \($0)" } ?? "" : "") }
    }
    return [
      DefinitionDifference("\(role)_account", from: account(was), to: account(now)),
      DefinitionDifference("\(role)_token_type", from: was?.kind.rawValue, to: now?.kind.rawValue),
    ].compactMap(\.self)
  }
}
