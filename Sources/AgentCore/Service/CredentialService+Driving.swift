import AgentWire
import JSONCoding
import Logging
import OAuthProtocol
import Sealing
import TokenVault

extension CredentialService {
  typealias Actions = [AccountStateMachine.Action]

  /// Hands one event to the state machine of `name`, and performs what it wants done.
  func event(_ name: String, _ event: AccountStateMachine.Event) {
    if let account = accounts[name] { self.event(account, event) }
  }

  /// The same, as of `ahead` seconds from now. `afterwards` comes before what it wants is performed, which is returned.
  @discardableResult
  func event(
    _ account: Account, _ event: AccountStateMachine.Event, ahead: Double = 0, afterwards: () -> Void = {}
  ) -> Actions {
    takeHolds(account)
    let actions = account.handle(event, at: now(account).advanced(by: ahead))
    tokenWaiters.beginTelling()
    defer { tokenWaiters.endTelling() }
    afterwards()
    noteProbes(account)
    noteLife(of: account)
    for action in actions { perform(action, account) }
    sweepPlaces(account)
    applyWish(account)
    reschedule(account)
    resumeIfIdle()
    return actions
  }

  private func perform(_ action: AccountStateMachine.Action, _ account: Account) {
    switch action {
    case .save(let record): save(record, account)
    case .erase: erase(account)
    case .send(let call): send(call, account)
    case .revoke(let revocation, let secret): revoke(revocation, secret, account)
    case .publish: publish(account.name)
    case .deliver(let id, let token): deliver(id, token, of: account.name)
    case .refuse(let id, let failure):
      answerWaiter(id, .failure(blamingFile(blamingLender(failure, of: account), of: account.name)))
    case .judged: break
    case .changed(let id, let failure): waiters.changes.take(id)?.resume(returning: failure)
    }
  }

  // MARK: Actions

  private func save(_ record: AccountRecord, _ account: Account) {
    account.version += 1
    let payload: Secret
    do { payload = Secret(try record.bytes(atMost: VaultRecord.maximumPayloadCount)) } catch {
      let failure = AgentFailure(.internal, "\(account.name): its record cannot be saved")
      Task { self.saveEnded(account, .failure(failure)) }
      return
    }
    var stored = stored(account, payload)
    stored.awaitsAnswer = account.machine.isSavingIntent
    let isOnlyCopy = account.machine.isSavingOnlyCopy
    let name = account.name
    write(account) { [stored] in await self.put(stored, of: name, isOnlyCopy: isOnlyCopy) }
  }

  /// `payload` with the present id and version of `account`.
  func stored(_ account: Account, _ payload: Secret) -> VaultRecord {
    var stored = VaultRecord(id: account.id, version: account.version, payload: payload)
    stored.replacements = availability.replacements
    return stored
  }

  func write(_ account: Account, _ write: @escaping VaultWrites.Write) {
    guard writes.begin(account, write) else { return }
    Task {
      let end = await write()
      self.writes.end()
      self.saveEnded(account, end)
    }
  }

  private nonisolated func put(
    _ record: VaultRecord, of name: String, isOnlyCopy: Bool
  ) async -> Result<UInt64, AgentFailure> {
    do throws(VaultError) {
      do throws(VaultError) { return .success(try await store.put(record)) } catch {
        guard case .replaced = error else { throw error }
        await lookAtVault()
        // The state machine has what of it counts beside the newer one.
        guard let record = await above(record, of: name) else { return .failure(AgentFailure(error)) }
        return .success(try await store.put(record))
      }
    } catch {
      if isOnlyCopy {
        do throws(VaultError) { try await store.spill(record) } catch {
          logger.error(
            "the unsaved record could not be kept in a file of its own either",
            metadata: ["reason": "\(AgentFailure(error).message)"])
        }
      }
      return .failure(AgentFailure(error))
    }
  }

  private func erase(_ account: Account) {
    let id = account.id
    write(account) { await self.delete(id) }
  }

  private nonisolated func delete(_ id: RecordID) async -> Result<UInt64, AgentFailure> {
    do throws(VaultError) {
      do throws(VaultError) { try await store.delete(id) } catch {
        guard case .replaced = error else { throw error }
        await lookAtVault()
        try await store.delete(id)
      }
      return .success(0)
    } catch { return .failure(AgentFailure(error)) }
  }

  private func saveEnded(_ account: Account, _ end: Result<UInt64, AgentFailure>) {
    // The first to know that a disk is full, or has room again.
    tellVault()
    if case .failure(let failure) = end {
      logger.error(
        "a record could not be saved",
        metadata: ["event": "storage_failed", "account": "\(account.name)", "reason": "\(failure.message)"])
    }
    // What was saved for an account before a lock is no news to the one after it.
    guard accounts[account.name] === account else { return }
    let random = self.random.fraction()
    switch end {
    case .failure(let failure): event(account, .saveFailed(failure, random: random))
    case .success(let commit):
      if account.hasLateAnswers { removeLateAnswers(of: account) }
      let isOvertaken = account.machine.replacement != nil
      event(account, .saved(random: random)) { if !isOvertaken { account.noteNews(at: commit) } }
    }
    waiters.happened(.revocation(account.name))
  }

  private func send(_ call: TokenCall, _ account: Account) {
    let call = withBorrowed(call, account)
    let name = account.name
    logger.info(
      "asking for a token",
      metadata: ["event": "token_asked", "account": "\(name)", "issuer": "\(call.binding.issuer)"])
    underWay.begin(RequestsUnderWay.Call(account: name, id: account.id, call: call))
    // Not a child of anything: a caller that leaves, or a login that ends, never takes an answer with it.
    Task {
      let endpoint = TokenEndpoint(self.exchange(by: self.checkedTransport))
      self.callEnded(name, call, await endpoint.perform(call, now: call.started))
    }
  }

  private func callEnded(_ name: String, _ call: TokenCall, _ end: TokenCallEnd) {
    let sent = underWay.end(call.number)
    // The clock may have moved while it was under way.
    askServersForTheTime()
    noteEnd(end, of: call, for: name)
    noteRefusal(end, of: call)
    // Told to the log afterwards: until an answer is saved, a kill loses what it carries.
    if let account = accounts[name], account.machine.awaits(call.number) {
      event(account, .callEnded(call.number, end, random: random.fraction()))
    } else if let sent {
      answeredLate(sent, end)
    }
    resumeIfIdle()
    logger.info(
      "\(end.logLine)",
      metadata: [
        "event": end.isGranted ? "token_granted" : "token_failed", "account": "\(name)",
        "issuer": "\(call.binding.issuer)",
      ])
  }

  private func revoke(_ revocation: RevocationRecord, _ secret: Secret?, _ account: Account) {
    let name = account.name
    if revocation.clientURI != nil, let user = user(of: revocation.binding, by: account) {
      // Later, because this is done within an event of the account.
      Task { self.revocationEnded(account, revocation, await self.leaveClient(of: revocation, account, to: user)) }
      return
    }
    if revocation.clientURI != nil, let reason = keepsClient(of: revocation, name) {
      Task { self.revocationEnded(account, revocation, .later(reason, retryAfterSeconds: nil)) }
      return
    }
    let priority =
      account.machine.revocationQueue.isAskedFor ? .person : RequestPriority.plan(due: time.now().bootSeconds)
    let server = servers.server(ServerRoute(revocation))
    server.circuit.began(name)
    account.revokingServer = server
    account.isRevocationSent = false
    Task {
      var transport = ObservedTransport(service: self, account: name, priority: priority)
      transport.isRevocation = true
      transport.obstacle = { await self.obstacle(to: revocation, of: name) }
      if revocation.binding.datesRequests { await self.waitForTime(at: ServerRoute(revocation)) }
      let now = self.now(at: ServerRoute(revocation))
      let end = await TokenEndpoint(self.exchange(by: transport))
        .revoke(revocation, clientSecret: secret, now: now)
      self.revocationEnded(account, revocation, end)
    }
  }

  /// The account whose login is, or is to be, by the client of `binding`, `account` itself among them: without the client it
  /// could refresh nothing. By its id alone, since a server may have got another address.
  func user(of binding: DefinitionBinding, by account: Account) -> Account? {
    let isOwn =
      account.machine.record?.grant?.binding.clientID == binding.clientID
      || pendingLogins.contains(account.name) && account.machine.definition?.clientID == binding.clientID
    return isOwn ? account : otherUser(of: binding, than: account.name)
  }

  /// Leaves it to `user` to have the client deleted that its login is by.
  private func leaveClient(
    of revocation: RevocationRecord, _ account: Account, to user: Account
  ) async -> RevocationEnd {
    let name = user.name
    guard let grant = user.machine.record?.grant?.binding else {
      return .later("\(name) is to be logged in by the same client", retryAfterSeconds: nil)
    }
    // Of two servers that number their clients it may be another one: then it stays, and nobody has it deleted.
    guard user === account || grant.isAtServer(of: revocation.binding) else {
      return .refused("\(name) has a client of that id, so it stays")
    }
    do throws(AgentFailure) { try await change(name, .takeOver(ClientRegistrationRecord(of: revocation))) } catch {
      return .later(error.message, retryAfterSeconds: nil)
    }
    return .refused("\(name) is known there by the same client, so it stays")
  }

  /// Another account that is, or is to be, logged in as a client of that id, first of all one at the same server.
  func otherUser(of binding: DefinitionBinding, than name: String) -> Account? {
    let users = accounts.values.filter { other in
      guard other.name != name else { return false }
      return other.machine.definition?.clientID == binding.clientID
        || other.machine.record?.grant?.binding.clientID == binding.clientID
    }
    return users.first { $0.machine.record?.grant?.binding.isAtServer(of: binding) == true }
      ?? users.first { $0.machine.definition?.issuer == binding.issuer } ?? users.first
  }

  private func revocationEnded(_ account: Account, _ revocation: RevocationRecord, _ end: RevocationEnd) {
    account.revoked.removeAll { $0.revocation.since != revocation.since || $0.revocation == revocation }
    account.revoked.append((revocation, end))
    account.revokingServer = nil
    guard accounts[account.name] === account else { return }
    event(account, .revocationEnded(revocation, end, nextID(), random: random.fraction()))
    waiters.happened(.revocation(account.name))
  }

  func publish(_ name: String) {
    noteLenders(of: name)
    lenderChanged(name)
    offer(name)
  }

  /// Brings what others may have of `name` up to date.
  func offer(_ name: String) {
    index.note(name)
    tokenWaiters.forgetReply(of: name)
    guard !isLocked, let account = accounts[name], account.machine.definition != nil else {
      forgetUnreadLogins()
      return ready.set(nil, nil, for: name)
    }
    let candidate = account.machine.record?.grant == nil ? nil : candidate(account)
    // One that is bound to a key is given with a proof for one request, or not at all.
    let token = account.machine.ready.first { $0.key == .standard && !$0.isBound }
    ready.set(token.flatMap { readyToken($0, name) }, candidate, for: name)
  }
}

extension RandomSource {
  /// A random number in 0..<1, for jitter.
  func fraction() -> Double {
    let bytes = bytes(4)
    return bytes.reduce(0.0) { $0 * 256 + Double($1) } / 4_294_967_296
  }
}

extension TokenCallEnd {
  var isGranted: Bool {
    if case .answered(let answer) = self, case .granted = answer.verdict { true } else { false }
  }

  /// One line for the log: without secrets, and of what the server says its error code alone.
  var logLine: String {
    switch self {
    case .notTried(let reason), .notInstalled(let reason), .noAuthority(let reason), .noCertificate(let reason),
      .notSent(let reason):
      "nothing was sent: \(reason)"
    case .sentNoAnswer(let reason): "sent, and no whole answer came: \(reason)"
    case .answered(let answer), .unproven(let answer, _): answer.verdict.logLine
    }
  }
}
