import AgentWire
import ArgumentParser
import HelperFormats
import SystemFacts

extension CompletionKind {
  /// The names of the accounts whose files are there. No agent is asked for them.
  static var accountName: CompletionKind { .custom { _, _, _ in accountNames(.live) } }

  /// Those, and the logins whose file is gone, which can be shown and ended still. An agent that runs is asked; none is
  /// started for a press of Tab.
  static var keptAccountName: CompletionKind {
    .custom { _, _, _ in keptAccountNames(.live, LiveAgent()) }
  }

  /// The names of the presets, from an agent that runs.
  static var providerName: CompletionKind {
    .custom { _, _, _ in
      let answer = try? LiveAgent().tell(ProviderList(), timeoutMilliseconds: patienceMilliseconds)
      return answer?.providers.map(\.provider) ?? []
    }
  }

  /// The words of `oauthctl curl`: an account comes first, with oauthctl's own options before it; what follows is curl's.
  static var curlWord: CompletionKind {
    .custom { words, place, _ in
      var before = words.prefix(place).drop { $0 != Dialect.curl.subcommand }.dropFirst()
      guard (try? CurlOwnOptions(takenFrom: &before)) != nil, before.isEmpty else { return [] }
      return accountNames(.live) + CurlOwnOptions.names
    }
  }

  static func keptAccountNames(_ environment: Environment, _ agent: some AgentCalling) -> [String] {
    let named = accountNames(environment)
    // They come before those that work.
    let page = try? agent.tell(AccountList(limit: 200), timeoutMilliseconds: patienceMilliseconds)
    let kept = (page?.accounts ?? []).filter { $0.fileGone == true }.map(\.account)
    return named + kept.filter { AccountName.isValid($0) && !named.contains($0) }
  }

  /// Whoever types goes on without the names of an agent that takes longer.
  private static let patienceMilliseconds = 400

  static func accountNames(_ environment: Environment) -> [String] {
    guard let folder = environment.folder(.configuration) else { return [] }
    return FileBytes.names(in: folder + "/accounts.d").filter { $0.hasSuffix(".toml") }
      .map { String($0.dropLast(".toml".count)) }.filter(AccountName.isValid)
  }
}
