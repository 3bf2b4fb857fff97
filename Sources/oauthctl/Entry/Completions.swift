import ArgumentParser

extension CompletionKind {
  /// The names of the accounts whose files are there. No agent is asked, nor started, for a press of Tab.
  static var accountName: CompletionKind { .custom { _, _, _ in accountNames(.live) } }

  /// As the account file spells them.
  static var grant: CompletionKind { .list(["authorization_code", "device_code", "client_credentials", "password"]) }

  static func accountNames(_ surroundings: Surroundings) -> [String] {
    guard let folder = surroundings.configurationFolder else { return [] }
    return FileBytes.names(in: folder + "/accounts.d").filter { $0.hasSuffix(".toml") }
      .map { String($0.dropLast(".toml".count)) }.filter(AccountName.isValid)
  }
}
