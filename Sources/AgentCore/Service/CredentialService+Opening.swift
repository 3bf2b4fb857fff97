package import AgentWire
import Logging
import TokenVault

/// Reads the vault and the account files into memory.
extension CredentialService {
  /// Reads configuration and vault once; a failure is answered and tried again by the next request. `looksAtFiles`: what has
  /// just been mended or changed is read before; a secret is given for what the files said when it was typed.
  package func open(looksAtFiles: Bool = true) async throws(AgentFailure) {
    if looksAtFiles, availability.isServing { await lookAtFiles() }
    // A lock may come between the end of a load and whoever waited for it.
    while !availability.isServing {
      if isLocked { throw availability.lockedFailure }
      let task = availability.opening ?? Task { await self.load() }
      availability.opening = task
      if let failure = await task.value { throw failure.kind == .vaultLocked ? availability.lockedFailure : failure }
    }
  }

  /// Ends in one step on this actor: nobody sees half of it, and a second load can begin only after a failed one.
  private func load() async -> AgentFailure? {
    defer { availability.opening = nil }
    do {
      let records = try await store.loadAll()
      let rollback = await store.rolledBackFrom
      let commit = await store.lastCommit
      let lateAnswers = records.isEmpty ? [:] : try await lateAnswers()
      let read = await StoredRecords.read(records)
      let configuration = await readFiles()
      if isLocked { return .vaultLocked }
      availability.rollback = rollback
      if let rollback {
        logger.warning(
          "the vault is older than this machine remembers: nothing is refreshed until somebody accepts it",
          metadata: ["event": "rollback_held", "expected_commit": "\(rollback)"])
      }
      numbers.follow(read.accounts.map(\.record), commit: commit)
      numbers.beginLife()
      for id in read.later {
        logger.error("a record of the vault is of a later version", metadata: ["record": "\(id)"])
      }
      for (stored, record) in onePerAccount(read) { adopt(stored, record, lateAnswers) }
      // A pause, or a clock that was set, while no agent had these tokens: servers are asked as for one that happens now.
      let now = time.now()
      if let odd = accounts.values.lazy.compactMap({ $0.machine.record?.datedByAnotherClock(now) }).first {
        ready.trustWall(at: odd)
        askServersForTheTime()
      }
      underWay.forgetLateTokens()
      apply(configuration)
      // Accounts without a definition, too: a revocation may be left to do.
      for account in accounts.values { reschedule(account) }
      wakeSoon(accounts.keys)
      availability.open()
      tellServing()
      if events.isFollowed { for name in accounts.keys { told.note(name, telling(name)) } }
      tellVault()
      return nil
    } catch {
      tellVault()
      return AgentFailure(error)
    }
  }

  /// The next `open` reads everything again.
  func close() {
    availability.close()
    index = AccountIndex()
  }

  func adopt(_ stored: VaultRecord, _ record: AccountRecord, _ lateAnswers: [RecordID: [LateToken]]) {
    let account = Account(record.name, machine: newMachine(record.name, record), id: stored.id, version: stored.version)
    accounts[record.name] = account
    account.noteNews(at: stored.commit)
    let late = (lateAnswers[stored.id] ?? []) + underWay.lateTokens(of: stored.id)
    account.handle(.late(late), at: time.now())
    let isNews = account.machine.unsaved != nil
    if !isNews { account.handle(.adopted(callsUnderWay(stored.id, record)), at: time.now()) }
    noteLife(of: account)
    account.hasLateAnswers = isNews
    if !isNews, lateAnswers[stored.id] != nil { removeLateAnswers(of: account) }
  }

  /// The records of `read`, one of each account: of two the newer counts, by its number, or by which was written last. An agent has
  /// written it into an older vault that was put over the one it had open.
  func onePerAccount(_ read: StoredRecords) -> [(stored: VaultRecord, record: AccountRecord)] {
    let last = Dictionary(
      read.accounts.map { ($0.record.name, $0) },
      uniquingKeysWith: { $1.record.age >= $0.record.age ? $1 : $0 }
    ).mapValues(\.stored.id)
    for (stored, record) in read.accounts where last[record.name] != stored.id {
      logger.error(
        "there are two records of an account: the newer one counts",
        metadata: ["account": "\(record.name)"])
      removeOther(stored.id, of: record.name)
    }
    return read.accounts.filter { last[$0.record.name] == $0.stored.id }
  }

  /// Removes a record of the account `name` that is not the one that counts.
  func removeOther(_ id: RecordID, of name: String) {
    Task {
      do throws(VaultError) { try await self.store.delete(id) } catch {
        self.logger.error(
          "the other one could not be removed",
          metadata: ["account": "\(name)", "reason": "\(AgentFailure(error).message)"])
      }
    }
  }

  /// Takes over what the files say; a file with problems keeps its last good definition, and so do all files of a folder
  /// that could not be read.
  func apply(_ read: Configuration) {
    take(read, isServing: true)
    let defined = Dictionary(read.definitions.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
    for (name, definition) in defined where accounts[name]?.machine.definition != definition {
      begin(name)
      define(name, definition)
    }
    for (name, account) in accounts where defined[name] == nil {
      guard let definition = account.machine.definition else { continue }
      if problems.concern(definition.file) { continue }
      define(name, nil)
      if account.machine.isEmpty {
        setAlarm(.account(name), at: nil)
        accounts[name] = nil
        for ticket in account.places.values { giveBack(ticket) }
        ready.remove(name)
        if let server = clocks.awaited(by: name) { waiters.happened(.clock(server)) }
      }
    }
    // One whose file cannot be read is listed by its problem alone.
    for (name, account) in accounts where account.machine.definition == nil { index.note(name) }
    for name in Set(accounts.keys).union(told.names) { tell(name) }
  }

  /// Takes over what was read, but for the accounts.
  func take(_ read: Configuration, isServing: Bool) {
    let isNews = files.take(read, isServing: isServing)
    forgetUnreadLogins()
    if isNews { events.tell(.problems(problems.told.count)) }
  }

  /// Makes an account that is not known yet.
  @discardableResult
  func begin(_ name: String) -> Account {
    if let account = accounts[name] { return account }
    let account = Account(name, machine: newMachine(name, nil), id: RecordID(random: random), version: 0)
    accounts[name] = account
    return account
  }

  private func define(_ name: String, _ definition: AccountDefinition?) {
    guard let account = accounts[name] else { return }
    ready.nameHosts(
      of: name, before: account.machine.definition?.origins ?? [], after: definition?.origins ?? [])
    files.hosts = nil
    event(account, .defined(definition))
  }

  private func newMachine(_ name: String, _ record: AccountRecord?) -> AccountStateMachine {
    AccountStateMachine(
      name, record: record, definition: nil, rollback: availability.rollback, generation: numbers.nextGeneration())
  }
}
