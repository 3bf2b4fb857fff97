import AgentWire
import OAuthTerms
import Sealing

/// How changes are made, one at a time between refreshes.
extension AccountStateMachine {
  mutating func change(_ change: AccountChange, id: ChangeID, at now: Moment) -> [Action] {
    changes.append((id, change))
    return proceed(at: now)
  }

  mutating func apply(_ change: AccountChange, id: ChangeID, at now: Moment) -> [Action] {
    var next = latest ?? AccountRecord(name: name)
    switch change {
    case .login(_, _, _, let login?) where login != next.grant?.loginID ?? "":
      return [.changed(id, .changedMeanwhile(name))] + proceed(at: now)
    // The login that was imported, once more: what it was has become another token.
    case .login(let grant, _, _, _)
    where grant.givenToken != nil && isUsed(grant.refreshToken?.secret, of: grant.binding, next):
      return [.changed(id, .refreshTokenIsHere(name, of: name, .used))] + proceed(at: now)
    case .login(let grant, let token, let used, _):
      next.name = name
      next.grant = grant
      next.grant?.order = order
      next.grant?.tokenOrder = order
      next.grant?.afterRollback = rollback
      (next.formerBinding, next.logoutOrder, next.formerTokenOrder) = (nil, nil, nil)
      next.tokens = token.map { [$0] } ?? []
      next.intent = next.intent(about: grant.refreshToken?.secret)
      next.bindSecrets(to: grant.binding, used: used.unlessChanged(secretChanges))
      // One that the account's file names may be of the next login.
      next.keepRegistrations(at: now) { kept in
        kept.mayBe(grant.binding.clientID) || definition.map { kept.mayBe($0.clientID) } == true
      }
      // Whoever logs in wants the token, over a restart too.
      next.grant?.lastAskedWallSeconds = now.wallSeconds
      asked = now.bootSeconds
      unchanged = nil
    case .logout(let asked):
      guard let grant = next.grant else { return [.changed(id, nil)] + proceed(at: now) }
      next.owe(Self.revocations(of: grant, next, at: asked ?? now, order: id))
      if next.clientSecret != nil, next.clientSecretPlace == nil { next.clientSecretPlace = SecretPlace(grant.binding) }
      (next.formerBinding, next.logoutOrder, next.formerTokenOrder) = (grant.binding, id, grant.tokenOrder ?? 0)
      next.grant = nil
      next.tokens = []
      next.intent = nil
      next.password = nil
      next.passwordPlace = nil
      revocationQueue.ask(for: next.revocations)
    // It waited behind a refresh or a login: what a person was shown may not be what is there now.
    case .setSecret(_, _, let place?, _, _) where definition.map({ next.place($0).digest }) != place:
      return [.changed(id, .secretMisplaced(name))] + proceed(at: now)
    // So may one that came meanwhile: of two that are made at once, the first stays.
    case .setSecret(let kind, _, _, replaces: false, _) where next.keeps(kind):
      return [.changed(id, .keyIsThere(name))] + proceed(at: now)
    case .setSecret(.refreshToken, _, _, _, let login?) where login != next.grant?.loginID:
      return [.changed(id, .changedMeanwhile(name))] + proceed(at: now)
    case .setSecret(.refreshToken, let secret, _, _, _) where isUsed(secret, of: next.grant?.binding, next):
      return [.changed(id, .refreshTokenIsHere(name, of: name, .used))] + proceed(at: now)
    case .setSecret(.clientSecret, let secret, _, _, _):
      next.clientSecretPlace = definition.map { next.place($0) } ?? next.clientSecretBelongs
      take(secret, in: &next)
    case .placeSecrets(let used, let binding): next.place(used, by: binding)
    case .setCertificate(_, let key) where next.clientSecret != key:
      return [.changed(id, .changedMeanwhile(name))] + proceed(at: now)
    case .setCertificate(let key, _): take(key, in: &next)
    case .setSecret(.password, let secret, _, _, _):
      next.password = StoredSecret(secret)
      next.passwordPlace = definition.map { next.place($0) }
      if next.grant?.kind.terms.need == .password { next.grant?.verdict = nil }
    case .setSecret(.refreshToken, let secret, _, _, _):
      // It was given for the server of the file, and would go to the one of the login.
      guard !isDefinitionChanged else { return [.changed(id, definitionChanged)] + proceed(at: now) }
      // The verdict was about the old refresh token, and so was the intent, unless this is the same.
      next.intent = next.intent(about: secret)
      next.grant?.take(secret, received: now, lifeSeconds: nil, parent: nil)
      next.grant?.givenToken = Fingerprint(of: secret).description
      next.grant?.loggedIn = now
      next.grant?.order = order
      next.grant?.tokenOrder = order
      next.grant?.afterRollback = rollback
      next.grant?.verdict = nil
      // Whose it is, the server tells with the first refresh. Until then nothing that was another's is given for it.
      next.grant?.identity = nil
      next.tokens = []
    case .forgetSecret(.clientSecret, let shown?) where next.clientSecret != shown:
      return [.changed(id, .changedMeanwhile(name))] + proceed(at: now)
    case .forgetSecret(.clientSecret, _):
      next.clientSecret = nil
      next.clientSecretPlace = nil
      for index in next.revocations.indices { next.revocations[index].clientSecret = nil }
    case .forgetSecret(.password, _):
      next.password = nil
      next.passwordPlace = nil
    case .forgetSecret(.refreshToken, _):
      next.grant?.refreshToken = nil
      next.grant?.otherRefreshToken = nil
      next.grant?.tokenOrder = order
      next.intent = nil
    case .accept(let binding, let from, let shown, let login, let lenders, let secrets):
      // Behind a refresh the file may have been put back.
      guard next.grant?.binding == from, shown == nil || definition == shown,
        login == nil || login == next.grant?.loginID,
        secrets == nil || secrets == SecretOrders(next)
      else { return [.changed(id, .changedMeanwhile(name))] + proceed(at: now) }
      next.move(to: binding)
      next.grant?.lenders = lenders.isEmpty ? nil : lenders
      // Another account's token, or another person's, was agreed to: what was got for the one before is not that.
      if from.request?.lent != binding.request?.lent { next.tokens = [] }
    case .keepLenders(let lent, let from):
      guard next.grant?.binding == from else { return [.changed(id, nil)] + proceed(at: now) }
      next.grant?.binding.request?.lent = lent
    case .owe(let revocation): next.owe([revocation])
    case .lateToken(let late):
      guard latest != nil else { return [.changed(id, nil)] + proceed(at: now) }
      next.take(late)
      if next.grant != latest?.grant { next.grant?.tokenOrder = order }
    case .dropRevocation(let revocation):
      // Of several clients that a server gave one token, each is to be deleted; and two servers may give the same one.
      next.revocations.removeAll {
        $0.token == revocation.token && $0.clientURI == revocation.clientURI && $0.binding == revocation.binding
      }
    case .writeAnew(let older): older.map { next.join($0, at: now) }
    case .forget(let login?, _) where login != next.grant?.loginID ?? "":
      return [.changed(id, .changedMeanwhile(name))] + proceed(at: now)
    case .forget(_, let secrets?) where secrets != next.keptSecrets:
      return [.changed(id, .changedMeanwhile(name))] + proceed(at: now)
    case .register(let registration):
      next.name = name
      // What a command registered that was not finished, and neither a login nor the file has. Another command that is at it
      // just now has written no file yet.
      let used = [next.grant?.binding.clientID, next.formerBinding?.clientID, definition?.clientID].compactMap(\.self)
      next.keepRegistrations(at: now) { kept in
        used.contains { kept.mayBe($0) } || now.elapsed(since: kept.since) < ClientRegistrationRecord.commandSeconds
      }
      next.keep(registration)
    case .takeOver(let registration):
      guard let grant = next.grant, registration.mayBe(grant.binding.clientID) else {
        return [.changed(id, .changedMeanwhile(name))] + proceed(at: now)
      }
      next.keep(registration)
    case .forget:
      next.keepRegistrations(at: now) { _ in false }
      let (revocations, former) = (next.revocations, next.formerTokenOrder)
      next = AccountRecord(name: name)
      next.revocations = revocations
      // A copy that has the login is older than what is left.
      (next.logoutOrder, next.formerTokenOrder) = (order, former)
      if revocations.contains(where: { $0.clientURI != nil }) { revocationQueue.ask(for: revocations) }
    }
    if change.isNews {
      next.numberSecrets(insteadOf: latest, order)
      next.markRevocations(insteadOf: latest, afterRollback: rollback)
    }
    // Also where it is the same one again: somebody has said so.
    if let kind = change.secretKind { secretChanges[kind, default: 0] += 1 }
    if next == record && !change.isSavedAnyway || record == nil && next.isEmpty {
      return [.changed(id, nil)] + proceed(at: now)
    }
    let purpose = Purpose.change(id, eases: change.eases, isOnlyCopy: change.isOnlyCopy)
    guard !next.isEmpty else {
      phase = .saving(nil, purpose)
      return [.erase]
    }
    if change.isNews { next.order = order }
    return save(next, for: purpose)
  }

  private func isUsed(_ token: Secret?, of binding: DefinitionBinding?, _ record: AccountRecord) -> Bool {
    guard let token, let binding else { return false }
    return record.acquaintance(with: token, of: binding) == .used
  }

  /// A client secret, or a key, in the place of what is kept.
  private mutating func take(_ clientSecret: Secret, in record: inout AccountRecord) {
    record.clientSecret = StoredSecret(clientSecret)
    record.tellRevocationsOfSecret()
    revocationQueue.ask(for: record.revocations.filter { $0.clientSecret == record.clientSecret })
  }
}
