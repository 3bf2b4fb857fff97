import AgentWire

extension LoginCommand {
  /// A secret that a login needs and nobody gave on standard input.
  struct SecretQuestion {
    var kind: SecretKind
    var text: String
    /// What helps where there is no terminal.
    var otherwise: NextStep
  }

  static func question(_ kind: SecretKind, _ account: String, _ check: AccountCheckAnswer) -> String {
    let what =
      switch kind {
      case .clientSecret: "Client secret of"
      case .password: "Password for"
      case .refreshToken: "Refresh token of"
      }
    return "\(what) \(account)\(check.secretOwner)"
  }

  /// What has to be asked for, in the order of asking.
  func questions(_ account: String, _ check: AccountCheckAnswer, isNew: Bool) -> [SecretQuestion] {
    let missing = check.missingSecrets ?? []
    var questions: [SecretQuestion] = []
    if missing.contains(SecretKind.clientSecret.rawValue), !options.clientSecretFromInput {
      questions.append(
        SecretQuestion(
          kind: .clientSecret, text: Self.question(.clientSecret, account, check),
          otherwise: isNew
            ? "run the command again with --client-secret-stdin, and the secret on standard input"
            : .run("oauthctl secret set \(account) client_secret < FILE   # or a pipe: it is read from standard input"))
      )
    }
    if missing.contains(SecretKind.password.rawValue), !options.passwordFromInput {
      questions.append(
        SecretQuestion(
          kind: .password, text: Self.question(.password, account, check),
          otherwise: isNew && !options.clientSecretFromInput
            ? "run the command again with --password-stdin, and the password on standard input"
            : .run("oauthctl login \(account) --password-stdin < FILE")))
    }
    return questions
  }
}
