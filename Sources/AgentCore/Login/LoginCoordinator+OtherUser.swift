package import AgentWire

/// A login that ends as somebody else than the one before it: a person is asked before it takes that one's place.
///
/// The tokens wait in memory meanwhile. Whatever ends the login first (a no, a lock, a logout, the end of the agent,
/// its time) has them revoked.
extension LoginCoordinator {
  /// Whether `grant` may take the place of what is there; else why not. Only a caller who can ask a person is waited for.
  func mayReplace(_ before: GrantRecord?, with grant: GrantRecord, _ session: LoginSession) async -> AgentFailure? {
    guard let before, isOfAnother(grant, than: before, session), let was = before.identity else { return nil }
    // Two may have the name that was expected: people choose names for themselves at some servers.
    let expected = session.wishes.user
    if let expected, !was.isOf(expected) { return nil }
    let name = session.definition.name
    // Nobody logs in there: whose tokens it is made of was shown, and agreed to, before it began.
    let lent = grant.binding.request?.lent
    if lent != nil, LentTokens.areOfAnother(before.binding.request?.lent, lent) { return nil }
    let other = OtherUser(was: was.whoBySubject, now: grant.identity?.whoBySubject ?? "somebody unnamed")
    let isInTime = time.now().seconds(since: session.began) < Double(session.started.expiresInSeconds)
    guard session.confirmsUser, isInTime, !asksNobody else {
      return AgentFailure(
        .loginCancelled,
        "\(name): the login ended as \(other.now), and the one before it is \(other.was)'s; that one stays",
        hint: expected != nil
          ? "if this one is meant, name the id: oauthctl login \(name) --user ID"
          : lent == nil
            ? "log in as \(was.who ?? "that one"), or say whom you expect: oauthctl login \(name) --user USER"
            : "say whom you expect: oauthctl login \(name) --user USER")
    }
    let borrowers = await service.borrowers(of: name, notBy: grant)
    sessions[session.id]?.borrowers = borrowers
    sessions[session.id]?.otherUser = other
    let isAgreed = await withCheckedContinuation { continuation in
      guard sessions[session.id]?.isPending == true, !asksNobody else {
        return continuation.resume(returning: false)
      }
      questions[session.id] = continuation
      noteHeard(session.id)
      if let progress = sessions[session.id]?.progress { answerWaiters(session.id, .success(progress)) }
    }
    sessions[session.id]?.otherUser = nil
    guard isAgreed else {
      return AgentFailure(.loginCancelled, "\(name): the login was given up, and the one before it stays")
    }
    // A person takes as long as they like, and the file may be gone.
    do throws(AgentFailure) { try await service.checkHasFile(name) } catch { return error }
    return nil
  }

  /// Whether `grant` is somebody else's, or may be: the server told before who it was, was asked in the same way, and now
  /// tells nothing. A code that a stranger brings, or types, is answered so.
  func isOfAnother(_ grant: GrantRecord, than before: GrantRecord, _ session: LoginSession) -> Bool {
    guard grant.identity == nil else { return grant.isOfAnother(than: before) }
    let (was, isNow) = (before.asked(nil), grant.asked(nil))
    return !session.definition.grant.isUnattended && before.identity != nil
      && grant.binding.issuer == before.binding.issuer
      && was.contains("openid") == isNow.contains("openid")
  }

  /// The agent stops: who is asked now finds nobody who could act on the answer, and what was got is revoked.
  package func giveUpQuestions() {
    asksNobody = true
    for (id, question) in questions {
      questions[id] = nil
      question.resume(returning: false)
    }
  }

  /// `login.confirm`: a person has agreed to what `other_user` said.
  package func confirm(_ request: LoginConfirm) async throws(AgentFailure) -> LoginProgress {
    guard sessions[request.loginID] != nil else {
      throw AgentFailure(.badRequest, "there is no such login", hint: "start it again")
    }
    questions.removeValue(forKey: request.loginID)?.resume(returning: true)
    return try await wait(LoginWait(loginID: request.loginID))
  }
}

extension GrantRecord {
  /// Whether it is known to be somebody else's. Of two servers nobody can tell.
  func isOfAnother(than before: GrantRecord) -> Bool {
    guard let identity, let was = before.identity else { return false }
    guard binding.issuer == before.binding.issuer || identity.issuer == was.issuer else { return false }
    return !identity.endUser.isSame(as: was.endUser)
  }
}
