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

  /// Whether `now` stand for another account, or another person there, than `was`: others of the same do not, nor does
  /// somebody else who acts for that person.
  static func areOfAnother(_ was: LentTokens?, _ now: LentTokens?) -> Bool {
    LentToken.differences("subject", was?.subject, now?.subject).contains { $0.key == "subject_account" }
  }

  /// Every member, for a digest.
  var digested: [String] {
    all.flatMap { lent in
      [lent.account, lent.kind.rawValue, lent.issuer ?? "", lent.user?.issuer ?? "", lent.user?.subject ?? ""]
    } + [requestedType ?? ""]
  }

  private enum CodingKeys: String, CodingKey {
    case subject, actor
    case requestedType = "requested_token_type"
  }
}

/// A token that another account lends, and whose login that was when a person agreed.
package struct LentToken: Sendable, Equatable, Codable {
  package var account: String
  package var kind: TokenKind
  /// Where that account was logged in when a person agreed; nil: not known, as in a file, which names the account alone.
  package var issuer: String?
  /// Who was logged in there then; nil: no ID token told, or the record is from before this was kept.
  package var user: EndUser?

  package init(account: String, kind: TokenKind = .accessToken, issuer: String? = nil, user: EndUser? = nil) {
    self.account = account
    self.kind = kind
    self.issuer = issuer
    self.user = user
  }

  /// The same as a token by the lender's `login`. Where nobody knows any more whose that is, agreeing to it opens nothing:
  /// it is bound to the person who was known.
  func bound(to login: GrantRecord) -> LentToken {
    LentToken(account: account, kind: kind, issuer: login.binding.issuer, user: login.identity?.endUser)
  }

  /// The same with whom the lender's `login` is known to be of, where nobody was noted when `borrower` was agreed to, and that
  /// login is the one that was agreed to. Nil: a person is agreeing to it now.
  func known(by login: GrantRecord, _ borrower: GrantRecord?) -> LentToken {
    guard user == nil, issuer == login.binding.issuer, borrower?.isLent(by: login) != false else { return self }
    return bound(to: login)
  }

  /// Why the lender's `login` is not the one that `borrower` was agreed to with, in words that follow the account's
  /// name; nil: it is, as far as anybody knows. One that no longer tells whose it is is not known to be that person's. Where
  /// nobody was noted, a later login of a known person may be another person's.
  func change(to login: GrantRecord, _ borrower: GrantRecord?) -> String? {
    if let issuer, issuer != login.binding.issuer {
      return "at \(issuer), and that is logged in at \(login.binding.issuer) now"
    }
    guard let user = known(by: login, borrower).user else {
      guard let identity = login.identity else { return nil }
      let who = identity.presentUser.map { "\($0.shown) is" } ?? "nobody knows who is"
      return "by an earlier login, and \(who) logged in there now"
    }
    guard let now = login.identity?.presentUser else {
      return "as \(user.shown), and nobody knows who is logged in there now"
    }
    guard !now.isSame(as: user) else { return nil }
    return "as \(user.shown), and \(now.shownBeside(user)) is logged in there now"
  }

  fileprivate static func differences(_ role: String, _ was: LentToken?, _ now: LentToken?) -> [DefinitionDifference] {
    // A file says neither where the account is logged in nor who: that is compared where both sides are logins.
    let withIssuers = was.map { $0.issuer != nil } != false && now.map { $0.issuer != nil } != false
    func account(_ token: LentToken?, as user: String?) -> String? {
      guard let token else { return nil }
      return token.account + (withIssuers ? token.issuer.map { ", at \($0)" } ?? "" : "")
        + (withIssuers ? user.map { ", as \($0)" } ?? "" : "")
    }
    var user = now?.user?.shown
    if let before = was?.user, let after = now?.user {
      // A person may be shown by another name, and two by one.
      user = after.isSame(as: before) ? before.shown : after.shownBeside(before)
    }
    return [
      DefinitionDifference(
        "\(role)_account", from: account(was, as: was?.user?.shown), to: account(now, as: user)),
      DefinitionDifference("\(role)_token_type", from: was?.kind.rawValue, to: now?.kind.rawValue),
    ].compactMap(\.self)
  }
}

extension GrantRecord {
  /// Whether it was got for a token of `login`.
  ///
  /// In records from before that was kept the clock that counts from a boot on tells which was first. Across boots there is the
  /// wall clock alone, which somebody may have set meanwhile, or which was wrong: then it is not known.
  fileprivate func isLent(by login: GrantRecord) -> Bool {
    if let lenders { return lenders.contains(login.loginID) }
    return login.loggedIn.bootID == loggedIn.bootID && login.loggedIn.bootSeconds <= loggedIn.bootSeconds
  }
}
