import AgentWire

/// `login NAME` where no account has that name: what was probably meant.
struct UnknownAccount {
  let name: String
  let accounts: [String]
  /// Nil: the agent tells none.
  let presets: ProviderListAnswer?

  var error: CommandError {
    // A preset of the user's own, which the list leaves out.
    if let broken = presets?.problems.first(where: { $0.file.hasSuffix("/providers.d/\(name).toml") }) {
      return .configuration("the preset \(name): \(broken.sentence)", next: broken.nextStep)
    }
    let new = "oauthctl login \(name) ISSUER --client-id ID"
    if let meant = NameSuggestion.nearest(to: name, among: accounts) {
      return .configuration(
        "there is no account \(name) yet", next: .run("oauthctl login \(meant)   # or, for a new one: \(new)"))
    }
    if let preset = presets.flatMap({ NameSuggestion.nearest(to: name, among: $0.providers.map(\.provider)) }) {
      return .configuration(
        "there is no account \(name) yet, and no preset; did you mean the preset \(preset)?",
        next: .run("oauthctl login \(preset)   # or, for a new one: \(new)"))
    }
    return .configuration("there is no account \(name) yet", next: .run(new))
  }
}
