import AgentWire
package import Sealing
import Signing

/// The secrets that a login is made with.
package struct UsedSecrets: Sendable, Equatable {
  package var clientSecret: Secret?
  /// For the password grant.
  package var password: Secret?
  /// Whether the client secret came with the login, to be kept in the place of one that is there.
  var bringsClientSecret = false
  /// The same of the password.
  var bringsPassword = false
  /// How often each secret of the account had been set or forgotten when the login began: what is done to it since is newer.
  var changesBefore: [SecretKind: Int] = [:]

  package init(clientSecret: Secret? = nil, password: Secret? = nil) {
    self.clientSecret = clientSecret
    self.password = password
  }

  /// Whether `secret` is the client secret, or the same private key with another certificate.
  func isClientSecret(_ secret: Secret) -> Bool {
    if secret == clientSecret { return true }
    guard ClientKey.isStored(secret), let mine = clientSecret, ClientKey.isStored(mine),
      let key = try? ClientKey(stored: secret), let other = try? ClientKey(stored: mine)
    else { return false }
    return key.key.publicKey.thumbprint == other.key.publicKey.thumbprint
  }

  /// The same without what came with the login and has been set or forgotten since.
  func unlessChanged(_ changes: [SecretKind: Int]) -> UsedSecrets {
    func isAsBefore(_ kind: SecretKind) -> Bool { changes[kind] == changesBefore[kind] }
    var used = self
    used.bringsClientSecret = bringsClientSecret && isAsBefore(.clientSecret)
    used.bringsPassword = bringsPassword && isAsBefore(.password)
    return used
  }
}
