/// Secrets do not belong into files that are shown, backed up and shared; the vault takes them.
enum SecretKeys {
  /// What to do instead of writing `key` into a file; nil when it names no secret.
  static func advice(_ key: String) -> String? {
    switch key.lowercased().filter({ $0 != "-" && $0 != "_" }) {
    case "clientsecret", "secret": kept("client_secret")
    case "password", "passwd": kept("password")
    case "refreshtoken": kept("refresh_token")
    case "key", "privatekey", "clientkey": "private keys do not belong into this file; take it out"
    case "accesstoken", "token", "idtoken":
      "tokens do not belong into this file; take it out, then: oauthctl login NAME"
    default: nil
    }
  }

  private static func kept(_ kind: String) -> String {
    "secrets do not belong into this file; take it out, then: oauthctl secret set NAME \(kind)"
  }
}
