import Sealing

/// What was given for one login: by the word that its `login.start` names, too.
struct SecretsForLogin: Sendable {
  let id: String
  let since: Moment
  var password: PasswordForOneLogin?
  var clientSecret: ClientSecretForOneLogin?

  /// Logins of an account for which secrets wait: of more, the first ones are forgotten.
  static let most = 4
  /// The same of all accounts together: of more, none is taken. With two secrets of 32 KiB each they take 16 MiB.
  static let mostTogether = 256
  /// Of a command that was killed before its login began, they are forgotten when others are given after this time. A question
  /// of that command may stand for as long.
  static let lifeSeconds = 3600.0
}

/// A password for one login, and where it was given for.
struct PasswordForOneLogin: Sendable {
  var secret: Secret
  var place: SecretPlace?
  /// It is kept once that login has ended well, in the place of one that is there.
  var isKept = false
}

/// A client secret that takes the place of the one that is kept where its login ends well, and what the account's file was
/// when it was given.
struct ClientSecretForOneLogin: Sendable {
  let secret: Secret
  private let definition: AccountDefinition

  init(_ secret: Secret, for definition: AccountDefinition) { (self.secret, self.definition) = (secret, definition) }

  /// With another file than that it belongs to nobody.
  func belongs(to definition: AccountDefinition) -> Bool { definition == self.definition }
}

extension CredentialService.Account {
  /// Those of the login that names `id`.
  func secrets(for id: String?) -> SecretsForLogin? { secretsForLogins.first { $0.id == id } }

  func forgetSecrets(for id: String?) { secretsForLogins.removeAll { $0.id == id } }

  func keepSecrets(for id: String, at now: Moment, _ change: (inout SecretsForLogin) -> Void) {
    var secrets = secrets(for: id) ?? SecretsForLogin(id: id, since: now)
    forgetSecrets(for: id)
    change(&secrets)
    secretsForLogins = secretsForLogins.suffix(SecretsForLogin.most - 1) + [secrets]
  }

  /// Whether those of `id` would be one more, in the place of none.
  func hasRoom(forSecretsOf id: String) -> Bool {
    secrets(for: id) == nil && secretsForLogins.count < SecretsForLogin.most
  }

  func forgetOldSecrets(at now: Moment) {
    secretsForLogins.removeAll { now.elapsed(since: $0.since) >= SecretsForLogin.lifeSeconds }
  }
}
