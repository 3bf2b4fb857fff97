package import AgentWire
import OAuthTerms
package import Sealing

/// A change of what is kept for an account, one at a time between refreshes.
package enum AccountChange: Sendable {
  /// A login gave a new grant; it replaces the old one. `replacing` is the `GrantRecord.loginID` that a person was shown,
  /// empty where there was none; nil: whatever is there.
  case login(GrantRecord, TokenRecord?, used: UsedSecrets, replacing: String? = nil)
  /// Forgets the grant and its tokens; what the server has to be told is kept until it was. It was asked for at `asked`;
  /// nil: now.
  case logout(asked: Moment? = nil)
  /// `place` is the digest of where the person read that the secret belongs. One that is there already is replaced, or, where
  /// nobody agreed to that, kept. `login` is the `GrantRecord.loginID` that a refresh token was given for; nil: any.
  case setSecret(SecretKind, Secret, place: String? = nil, replaces: Bool = true, login: String? = nil)
  /// A login is about to send what is kept, by the endpoints of a binding.
  case placeSecrets(UsedSecrets, DefinitionBinding)
  /// The private key `of`, with another certificate of it: it belongs where it was, whatever the file says now.
  case setCertificate(Secret, of: StoredSecret)
  /// `shown` is the one that a person was shown: another is kept. Nil: whichever is there.
  case forgetSecret(SecretKind, shown: StoredSecret? = nil)
  /// Binds the grant, if it is still bound to `from`, to what a person agreed to. `shown` is the definition that it was
  /// made of, `login` its `GrantRecord.loginID`, and `secrets` are those that were looked at; nil: any. `lenders` are those
  /// of the logins that lend to it now.
  case accept(
    DefinitionBinding, from: DefinitionBinding, shown: AccountDefinition? = nil, login: String? = nil,
    lenders: [String] = [], secrets: SecretOrders? = nil)
  /// Notes whose the logins are that lend to the grant, if it is still bound to `from`: they are the ones agreed to.
  case keepLenders(LentTokens, from: DefinitionBinding)
  /// A refresh token came when another answer had been taken already, or after a lock.
  case lateToken(LateToken)
  /// Something came that its server is to be told to revoke.
  case owe(RevocationRecord)
  /// The server was told, or it will not be told any more.
  case dropRevocation(RevocationRecord)
  /// A client was registered for the account.
  case register(ClientRegistrationRecord)
  /// A client that was registered for another account is left to this one, whose login is by it.
  case takeOver(ClientRegistrationRecord)
  /// Another vault lies in the place of the one that was open: writes what is kept here into it, in the place of an `older` record.
  case writeAnew(insteadOf: AccountRecord? = nil)
  /// Deletes all but what is still to be revoked at a server, and the client there that was registered for it. `login`
  /// is the `GrantRecord.loginID` that a person was shown, and empty where there was none; `secrets` are those that the person was
  /// shown; nil: any.
  case forget(login: String? = nil, secrets: [SecretKind]? = nil)

  /// What somebody sets or forgets; nil: no secret.
  var secretKind: SecretKind? {
    switch self {
    case .setSecret(let kind, _, _, _, _), .forgetSecret(let kind, _): kind
    case .setCertificate: .clientSecret
    default: nil
    }
  }

  /// Whether it is saved also where the record is equal.
  var isSavedAnyway: Bool {
    switch self {
    // What was accepted may be another spelling of the same letters, which is equal here and to no server.
    case .accept, .writeAnew: true
    default: false
    }
  }

  /// Whether what held refreshes back may be mended by it.
  var eases: Bool {
    switch self {
    case .keepLenders, .owe, .dropRevocation, .lateToken, .register, .takeOver, .placeSecrets, .writeAnew:
      false
    default: true
    }
  }

  /// Whether a copy of the vault that lacks it is older.
  var isNews: Bool {
    switch self {
    case .keepLenders, .dropRevocation, .writeAnew: false
    default: true
    }
  }

  /// Whether nobody else has what it saves.
  var isOnlyCopy: Bool {
    switch self {
    case .lateToken, .writeAnew: true
    default: false
    }
  }
}
