import ArgumentParser

extension CompletionKind {
  /// The names of the accounts whose files are there. No agent is asked, nor started, for a press of Tab.
  static var accountName: CompletionKind { .custom { _, _, _ in accountNames(.live) } }

  /// As the account file spells them.
  static var grant: CompletionKind { .list(["authorization_code", "device_code", "client_credentials", "password"]) }

  /// The words of `oauthctl curl`: an account comes first, with `--any-host` before it; what follows is curl's.
  static var curlWord: CompletionKind {
    .custom { words, place, _ in
      let before = words.prefix(place).drop { $0 != "curl" }.dropFirst()
      return before.allSatisfy { $0 == "--any-host" }
        ? accountNames(.live) + (before.isEmpty ? ["--any-host"] : []) : []
    }
  }

  static func accountNames(_ surroundings: Surroundings) -> [String] {
    guard let folder = surroundings.folder(.configuration) else { return [] }
    return FileBytes.names(in: folder + "/accounts.d").filter { $0.hasSuffix(".toml") }
      .map { String($0.dropLast(".toml".count)) }.filter(AccountName.isValid)
  }
}
