import AgentWire

extension LoginFlow {
  /// Begins the login. Where it would send what is kept elsewhere than before, that is shown first, and what was agreed to
  /// goes along: another change is refused.
  func start(_ request: LoginStart) throws(CommandError) -> LoginStarted {
    do {
      return try ask(request)
    } catch .agent(let failure, _) where failure.kind == .definitionChanged {
      let preview = try context.agent.ask(
        AccountAccept(
          account: account, dryRun: true, login: true, device: request.device, definitionDigest: definitionDigest,
          secretsID: request.secretsID),
        about: account)
      // Of a first login nothing else can differ.
      let lends = preview.differences.allSatisfy { $0.key.hasSuffix("_account") || $0.key.hasSuffix("_token_type") }
      let cause =
        lends
        ? "it is given a token of another account"
        : replacesFile
          ? "the new file is not what the login was made with"
          : "its file, or what its server says of itself, has changed"
      let lines = ["\(account): \(cause):"] + preview.lines
      try context.terminal.agree(
        "Log in there, and send tokens and secrets of \(account)\(preview.destination) as shown?", about: lines,
        isGiven: acceptsChanges,
        otherwise: .run(
          "oauthctl login \(account) --accept-changes   # "
            + (lends || replacesFile ? "when that is what you want" : "when you know who changed it")))
      var agreed = request
      agreed.bindingDigest = preview.bindingDigest
      return try ask(agreed)
    }
  }

  /// What the agent calls a bad request is what somebody wishes of this login, which does not fit the account: wrong usage.
  private func ask(_ request: LoginStart) throws(CommandError) -> LoginStarted {
    do throws(CommandError) {
      return try context.agent.ask(request, about: account)
    } catch {
      guard case .agent(let failure, _) = error, failure.kind == .badRequest else { throw error }
      throw .usage(error.sentence ?? failure.message, next: error.nextStep)
    }
  }
}
