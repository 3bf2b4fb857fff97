package import AgentWire

/// A login that is being begun.
struct Beginning {
  /// Of who begins it, and may ask again.
  let requestID: String
  let task: Task<Result<LoginStarted, AgentFailure>, Never>
}

/// How a login begins, or joins one that has begun: of an account there is one at a time.
extension LoginCoordinator {
  package func start(_ request: LoginStart) async throws(AgentFailure) -> LoginStarted {
    guard (1...64).contains(request.requestID.utf8.count) else {
      throw AgentFailure(.badRequest, "request_id has 1 to 64 bytes")
    }
    _ = try LoginWishes(request)
    let account = request.account
    for known in sessions.values where known.definition.name == account {
      guard let isJoined = known.requests[request.requestID] else { continue }
      return withLink(known.id, known.started, isJoined: isJoined)
    }
    if let pending = pending(account) { return try await joinOther(pending.id, request, pending.started) }
    if let begun = starting[account] {
      let started = try await begun.task.value.get()
      if begun.requestID == request.requestID { return withLink(started.loginID, started) }
      return try await joinOther(started.loginID, request, started)
    }
    let task = Task { await self.beginAlone(request) }
    starting[account] = Beginning(requestID: request.requestID, task: task)
    let started = try await task.value.get()
    return join(started.loginID, request, started, isJoined: false)
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
    return join(id, request, started, isJoined: true)
  }

  /// Remembers that `request` was answered with this login, so that it can be repeated.
  private func join(_ id: String, _ request: LoginStart, _ started: LoginStarted, isJoined: Bool) -> LoginStarted {
    if let count = sessions[id]?.requests.count, count < LoginSession.rememberedRequests {
      sessions[id]?.requests[request.requestID] = isJoined
    }
    return withLink(id, started, isJoined: isJoined)
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
