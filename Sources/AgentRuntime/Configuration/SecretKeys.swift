/// Secrets do not belong in files that are shown, backed up and shared; the vault takes them.
enum SecretKeys {
  /// What to do instead of writing `key` into `file`; nil when it names no secret.
  static func advice(_ key: String, file: String) -> String? {
    let account = account(file)
    return advice(key, account)
  }

  /// The account that the file is of.
  private static func account(_ file: String) -> String {
    let name = file.utf8.split(separator: UInt8(ascii: "/")).last.map { String(decoding: $0, as: UTF8.self) } ?? ""
    guard name.hasSuffix(".toml"), name != "config.toml" else { return "NAME" }
    return String(name.dropLast(".toml".count))
  }

  private static func advice(_ key: String, _ account: String) -> String? {
    switch key.lowercased().filter({ $0 != "-" && $0 != "_" }) {
    case "clientsecret", "secret": kept("client_secret", account)
    case "password", "passwd": kept("password", account)
    case "refreshtoken": kept("refresh_token", account)
    case "key", "privatekey", "clientkey": "private keys do not belong in this file; take it out"
    case "accesstoken", "token", "idtoken":
      "tokens do not belong in this file; take it out, then: oauthctl login \(account)"
    // What a server may call a secret of its own.
    case "apikey", "apisecret", "apitoken", "authtoken", "secretkey", "passphrase", "passcode", "pwd", "pin", "otp":
      "secrets do not belong in this file, and the vault keeps none of that name; take it out"
    default: nil
    }
  }

  private static func kept(_ kind: String, _ account: String) -> String {
    "secrets do not belong in this file; take it out, then: oauthctl secret set \(account) \(kind)"
  }
}
