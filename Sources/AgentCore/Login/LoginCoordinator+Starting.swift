package import AgentWire

/// How a login begins, or joins one that has begun: of an account there is one at a time.
extension LoginCoordinator {
  package func start(_ request: LoginStart) async throws(AgentFailure) -> LoginStarted {
    guard (1...64).contains(request.requestID.utf8.count) else {
      throw AgentFailure(.badRequest, "request_id has 1 to 64 bytes")
    }
    _ = try LoginWishes(request)
    let account = request.account
    let known = sessions.values.first {
      $0.definition.name == account && $0.requestIDs.contains(request.requestID)
    }
    if let known { return withLink(known.id, known.started) }
    if let pending = pending(account) { return try await joinOther(pending.id, request, pending.started) }
    if let begun = starting[account] {
      let started = try await begun.value.get()
      return try await joinOther(started.loginID, request, started)
    }
    let task = Task { await self.beginAlone(request) }
    starting[account] = task
    let started = try await task.value.get()
    return join(started.loginID, request, started)
  }

  /// Joins a login that somebody else began. One that was begun with another definition than the account has now makes
  /// place for this one: nobody here has seen where it goes. So does one with other wishes that nobody waits for any more.
  /// Throws where it goes elsewhere than was agreed to here.
  private func joinOther(
    _ id: String, _ request: LoginStart, _ started: LoginStarted
  ) async throws(AgentFailure) -> LoginStarted {
    let name = request.account
    let wishes = try LoginWishes(request)
    let now = await service.definitionNow(name)
    // What was given for this login is not that of the one under way.
    let hasSecrets = request.secretsID != nil
    let isOther = hasSecrets || wishes != LoginWishes() && wishes != sessions[id]?.wishes
    if let session = sessions[id], session.isPending {
      let isFromBefore = now.map { $0 != session.definition } ?? false
      if isFromBefore || isOther && isDeserted(session) {
        let (which, why) =
          isFromBefore ? (" from before its file was changed", "its file was changed") : ("", "nobody waited for it")
        guard !session.isReceiving else {
          throw AgentFailure(.loginPending, "\(name): a login\(which) is being finished", hint: "try again")
        }
        end(id, .failure(AgentFailure(.loginCancelled, "\(name): \(why), and another login has begun")))
        return try await start(request)
      }
      guard !isOther else {
        if hasSecrets { await service.forgetSecrets(of: name, for: request.secretsID) }
        throw AgentFailure(
          .loginPending, "\(name): another login is under way, begun with other \(hasSecrets ? "secrets" : "options")",
          hint: .run("oauthctl login \(name)   # joins that one: finish it there, or give it up with Control-C"))
      }
    } else if isOther {
      // It has ended meanwhile.
      return try await start(request)
    }
    if let agreed = request.bindingDigest, agreed != sessions[id]?.agreement {
      throw AgentFailure.changedMeanwhile(request.account)
    }
    try sessions[id]?.definition.check(isShown: request.definitionDigest)
    var joined = join(id, request, started)
    joined.joined = true
    return joined
  }

  /// Remembers that `request` was answered with this login, so that it can be repeated.
  private func join(_ id: String, _ request: LoginStart, _ started: LoginStarted) -> LoginStarted {
    if let count = sessions[id]?.requestIDs.count, count < LoginSession.rememberedRequests {
      sessions[id]?.requestIDs.insert(request.requestID)
    }
    return withLink(id, started)
  }

  /// The one beginning of an account's login; ends it in `starting` itself, before anybody who waits goes on.
  private func beginAlone(_ request: LoginStart) async -> Result<LoginStarted, AgentFailure> {
    defer {
      starting[request.account] = nil
      departures[request.account] = nil
    }
    return await begin(request)
  }
}
