package import AgentWire
import OAuthTerms
package import Sealing

/// A change of what is kept for an account, one at a time between refreshes.
package enum AccountChange: Sendable {
  /// A login gave a new grant; it replaces the old one. `replacing` is the `GrantRecord.loginID` that a person was shown,
  /// empty where there was none; nil: whatever is there.
  case login(GrantRecord, TokenRecord?, used: UsedSecrets, replacing: String? = nil)
  /// Forgets the grant and its tokens; what the server has to be told is kept until it was. It was asked for at `asked`; nil:
  /// now.
  case logout(asked: Moment? = nil)
  /// `place` is the digest of where the person read that the secret belongs. One that is there already is replaced, or, where
  /// nobody agreed to that, kept. `login` is the `GrantRecord.loginID` that a refresh token was given for; nil: any.
  case setSecret(SecretKind, Secret, place: String? = nil, replaces: Bool = true, login: String? = nil)
  /// A login is about to send what is kept, by the endpoints of a binding.
  case placeSecrets(UsedSecrets, DefinitionBinding)
  /// The private key `of`, with another certificate of it: it belongs where it was, whatever the file says now.
  case setCertificate(Secret, of: StoredSecret)
  /// `shown` is the one that a person was shown: another is kept. Nil: whichever is there.
  case forgetSecret(SecretKind, shown: StoredSecret? = nil)
  /// Binds the grant, if it is still bound to `from`, to what a person agreed to. `login` is its `GrantRecord.loginID`; nil: any.
  /// `lenders` are the `GrantRecord.loginID` of the
  /// logins that lend to it now.
  case accept(DefinitionBinding, from: DefinitionBinding, login: String? = nil, lenders: [String] = [])
  /// Notes whose the logins are that lend to the grant, if it is still bound to `from`: they are the ones agreed to.
  case keepLenders(LentTokens, from: DefinitionBinding)
  /// A refresh token came when another answer had been taken already, or after a lock.
  case lateToken(LateToken)
  /// Something came that its server is to be told to revoke.
  case owe(RevocationRecord)
  /// The server was told, or it will not be told any more.
  case dropRevocation(RevocationRecord)
  /// A client was registered for the account.
  case register(ClientRegistrationRecord)
  /// A client that was registered for another account is left to this one, whose login is by it.
  case takeOver(ClientRegistrationRecord)
  /// Another vault lies in the place of the one that was open: writes what is kept here into it. See `RecordStore.rolledBackFrom`.
  case writeAnew(afterRollback: UInt64?)
  /// The same where that vault has the newer record, or, with an empty one, has forgotten the account: that is the one that counts,
  /// unless what was kept here with the number `over` has changed since.
  case restore(AccountRecord, over: UInt64?, afterRollback: UInt64?)
  /// Deletes all but what is still to be revoked at a server, and the client there that was registered for it. `login`
  /// is the `GrantRecord.loginID` that a person was shown, and empty where there was none.
  case forget(login: String? = nil)

  /// What somebody sets or forgets; nil: no secret.
  var secretKind: SecretKind? {
    switch self {
    case .setSecret(let kind, _, _, _, _), .forgetSecret(let kind, _): kind
    case .setCertificate: .clientSecret
    default: nil
    }
  }

  /// Whether it is saved also where the record is equal.
  var isSavedAnyway: Bool {
    switch self {
    // What was accepted may be another spelling of the same letters, which is equal here and to no server.
    case .accept, .writeAnew, .restore: true
    default: false
    }
  }

  /// Whether what held refreshes back may be mended by it.
  var eases: Bool {
    switch self {
    case .keepLenders, .owe, .dropRevocation, .lateToken, .register, .takeOver, .placeSecrets, .writeAnew, .restore:
      false
    default: true
    }
  }

  /// Whether a copy of the vault that lacks it is older.
  var isNews: Bool {
    switch self {
    case .keepLenders, .dropRevocation, .writeAnew, .restore: false
    default: true
    }
  }

  /// Whether nobody else has what it saves.
  var isOnlyCopy: Bool {
    switch self {
    case .lateToken, .writeAnew, .restore: true
    default: false
    }
  }
}

/// How a revocation request ended (RFC 7009 §2.2).
package enum RevocationEnd: Sendable {
  case revoked
  case refused(String)
  /// The client was not accepted: kept, since another client secret may be.
  case clientRefused(String)
  case later(String, retryAfterSeconds: Double?)

  /// Whether nothing more is sent for it.
  var isFinal: Bool {
    switch self {
    case .revoked, .refused: true
    case .clientRefused, .later: false
    }
  }
}

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
    case .login(let grant, let token, let used, _):
      next.name = name
      next.grant = grant
      next.grant?.order = order
      next.grant?.afterRollback = rollback
      next.formerBinding = nil
      next.tokens = token.map { [$0] } ?? []
      next.intent = nil
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
      next.formerBinding = grant.binding
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
      // The verdict and the intent were about the old refresh token.
      next.grant?.take(secret, received: now, lifeSeconds: nil)
      next.grant?.loggedIn = now
      next.grant?.order = order
      next.grant?.afterRollback = rollback
      next.grant?.verdict = nil
      // Whose it is, the server tells with the first refresh.
      next.grant?.identity = nil
      next.intent = nil
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
      next.intent = nil
    case .accept(let binding, let from, let login, let lenders):
      guard next.grant?.binding == from, login == nil || login == next.grant?.loginID else {
        return [.changed(id, .changedMeanwhile(name))] + proceed(at: now)
      }
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
    case .dropRevocation(let revocation):
      // Of several clients that a server gave one token, each is to be deleted; and two servers may give the same one.
      next.revocations.removeAll {
        $0.token == revocation.token && $0.clientURI == revocation.clientURI && $0.binding == revocation.binding
      }
    case .writeAnew(let rollback): writeAnew(&next, afterRollback: rollback)
    case .restore(_, let over, let rollback) where over != newest: writeAnew(&next, afterRollback: rollback)
    case .restore(let found, _, let rollback):
      restore(found, afterRollback: rollback)
      return [.publish, .changed(id, nil)] + settleAll(at: now) + proceed(at: now)
    case .forget(let login?) where login != next.grant?.loginID ?? "":
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
      let revocations = next.revocations
      next = AccountRecord(name: name)
      next.revocations = revocations
      if revocations.contains(where: { $0.clientURI != nil }) { revocationQueue.ask(for: revocations) }
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

  /// A client secret, or a key, in the place of what is kept.
  private mutating func take(_ clientSecret: Secret, in record: inout AccountRecord) {
    if record.clientSecret?.secret != clientSecret { record.clientSecretOrder = order }
    record.clientSecret = StoredSecret(clientSecret)
    record.tellRevocationsOfSecret()
    revocationQueue.ask(for: record.revocations.filter { $0.clientSecret == record.clientSecret })
  }

  private static func revocations(
    of grant: GrantRecord, _ record: AccountRecord, at now: Moment, order: ChangeID
  ) -> [RevocationRecord] {
    guard grant.binding.revocationEndpoint != nil else { return [] }
    func revocation(_ token: StoredSecret, _ hint: String) -> RevocationRecord {
      var revocation = RevocationRecord(token: token, hint: hint, binding: grant.binding, since: now)
      if grant.binding.sendsClientSecret { revocation.clientSecret = record.clientSecret(for: revocation) }
      revocation.user = grant.identity?.presentUser
      revocation.order = order
      return revocation
    }
    // A server that revokes the refresh token may revoke its access tokens, or not (RFC 7009 §2.1): each that lives is
    // told, after it. Without a refresh token all are: this clock may be wrong about what has ended.
    let refreshTokens = [grant.refreshToken, grant.otherRefreshToken].compactMap(\.self).map {
      revocation($0, "refresh_token")
    }
    return refreshTokens
      + record.tokens.compactMap { token in
        let left = token.remaining(at: now)
        let lives = (left ?? 1) > 0
        guard lives || refreshTokens.isEmpty else { return nil }
        var record = revocation(token.accessToken, "access_token")
        if lives { record.lifeSeconds = left }
        return record
      }
  }

  // MARK: Revocations

  /// What is told next, of each client at each server.
  private func nextRevocations(at now: Moment) -> [RevocationRecord] {
    record?.nextRevocations(beside: otherLogins, at: now) ?? []
  }

  /// Boot time of the next revocation; nil: none is due, or it waits for the end of another account's request.
  func nextRevocationTime(at now: Moment) -> Double? {
    isClosed ? nil : revocationQueue.time(of: nextRevocations(at: now), at: now)
  }

  /// The next revocation that is due.
  mutating func nextRevocation(at now: Moment) -> Action? {
    guard !isClosed, let next = revocationQueue.begin(nextRevocations(at: now), at: now) else { return nil }
    revokingSecret = record?.clientSecret(for: next)
    return .revoke(next, clientSecret: revokingSecret?.secret)
  }

  mutating func revocationEnded(
    _ revocation: RevocationRecord, _ end: RevocationEnd, id: ChangeID, at now: Moment, random: Double
  ) -> [Action] {
    var isOver =
      now.seconds(since: revocation.since) >= min(revocation.lifeSeconds ?? .infinity, RevocationRecord.lifeSeconds)
    switch end {
    case .revoked, .refused: isOver = true
    // Another secret came meanwhile.
    case .clientRefused where record?.clientSecret(for: revocation) != revokingSecret: revocationQueue.end()
    case .clientRefused(let reason):
      revocationQueue.end { $0.fail(reason, at: now.bootSeconds, spread: random, least: Self.probeSeconds) }
    case .later(let reason, let retryAfterSeconds):
      revocationQueue.end {
        $0.fail(reason, at: now.bootSeconds, spread: random, retryAfterSeconds: retryAfterSeconds)
      }
    }
    guard isOver else { return proceed(at: now) }
    revocationQueue.succeed()
    return change(.dropRevocation(revocation), id: id, at: now)
  }
}
