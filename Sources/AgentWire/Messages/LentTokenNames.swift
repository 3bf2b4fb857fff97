/// Whose tokens an account's own are made of (RFC 8693 §2.1), by the keys of an account file.
package struct LentTokenNames: Codable, Sendable, Equatable {
  package var subjectAccount: String
  package var subjectTokenType: String
  /// Nil: nobody acts for the subject.
  package var actorAccount: String?
  package var actorTokenType: String?
  /// The URI of what is to be issued; nil: the server decides.
  package var requestedTokenType: String?

  package init(subjectAccount: String, subjectTokenType: String) {
    self.subjectAccount = subjectAccount
    self.subjectTokenType = subjectTokenType
  }

  package enum CodingKeys: String, CodingKey {
    case subjectAccount = "subject_account"
    case subjectTokenType = "subject_token_type"
    case actorAccount = "actor_account"
    case actorTokenType = "actor_token_type"
    case requestedTokenType = "requested_token_type"
  }
}
