package import Sealing

/// The secrets that a login is made with.
package struct UsedSecrets: Sendable, Equatable {
  package var clientSecret: Secret?
  /// For the password grant.
  package var password: Secret?
  /// Whether the client secret came with the login, to be kept in the place of ``clientSecretBefore``. One that is set
  /// meanwhile is newer, and stays.
  var bringsClientSecret = false
  var clientSecretBefore: StoredSecret?
  /// The same of the password.
  var bringsPassword = false
  var passwordBefore: StoredSecret?

  package init(clientSecret: Secret? = nil, password: Secret? = nil) {
    self.clientSecret = clientSecret
    self.password = password
  }
}
