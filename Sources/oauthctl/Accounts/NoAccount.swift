import AgentWire

/// Where no account is listed: there is none, or the vault is shut. The name of a login whose file is gone is sealed in it.
struct NoAccount: Equatable {
  let sentence: String
  let step: NextStep

  /// `vault` is nil where no agent tells.
  init(_ vault: VaultStatusAnswer?) {
    self = NoAccount(shut: vault) ?? NoAccount(sentence: "there is no account yet", step: .firstLogin())
  }

  /// Nil: there is none. `name`: the account that is missed, of which there is no file.
  init?(shut vault: VaultStatusAnswer?, named name: String? = nil) {
    guard let vault, ![.open, .absent].contains(vault.state), vault.gone != true else { return nil }
    self.init(
      sentence: (name.map { "\($0): it has no file" } ?? "no account has a file")
        + ", and the vault \(vault.state == .locked ? "is locked" : "does not open"): "
        + "a login without a file shows when it is open",
      step: vault.remedy ?? .run("oauthctl vault unlock"))
  }

  private init(sentence: String, step: NextStep) { (self.sentence, self.step) = (sentence, step) }

  var error: CommandError { .configuration(sentence, next: step) }
}
