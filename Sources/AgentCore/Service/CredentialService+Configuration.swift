package import AgentWire
import OAuthProtocol
import TokenVault

/// What the service does, for one line of `systemctl status`.
package enum ServingState: Sendable {
  case accounts(Int, problems: [ConfigurationProblem])
  case locked
}

/// Reading the configuration files: elsewhere, since it may take long, and taken over here in one step.
extension CredentialService {
  /// From now on `serving` is called after each reading of the files, each unlock and each lock.
  package func follow(_ serving: @escaping @Sendable (ServingState) -> Void) {
    told.serving = serving
    // A caller may have been faster.
    if isOpen { tellServing() }
  }

  func tellServing() {
    told.serving?(isLocked ? .locked : .accounts(definedCount, problems: problems.told))
  }

  package func reload() async throws(AgentFailure) -> ConfigReloadAnswer {
    try await open()
    return Self.answer(await readFiles())
  }

  /// As `reload`, when the files have been read before; nil: the first request reads them.
  package func filesChanged() async -> ConfigReloadAnswer? {
    files.lockedList = nil
    // What it read may have been the files before they changed.
    if let opening = availability.opening { _ = await opening.value }
    return availability.isServing ? Self.answer(await readFiles()) : nil
  }

  /// Reads the files when `name` has a private authority: nobody tells when that changes, and what a person agrees to is
  /// what is there now.
  func readAuthority(of name: String) async {
    if accounts[name]?.machine.definition?.certificateAuthorityFile != nil { _ = await filesChanged() }
  }

  /// What the login's private authority holds, read now and compared as before a request: others connect with it, whatever
  /// the account's file says by now. Nil without one.
  ///
  /// Throws `definition_changed` when it is not the one that was agreed to.
  func authority(of name: String) async throws(AgentFailure) -> String? {
    guard let named = accounts[name]?.machine.record?.grant?.binding.route.authority else { return nil }
    switch await configuration.content(named) {
    case .success(let bytes):
      guard bytes.count <= Self.authorityBytes else {
        throw AgentFailure(
          .configInvalid,
          "\(name): its ca_file has more than \(Self.authorityBytes) bytes, more than the agent passes on",
          hint: "remove the authorities that you do not need")
      }
      return String(decoding: bytes, as: UTF8.self)
    case .failure(let failure):
      await readAuthority(of: name)
      if let machine = accounts[name]?.machine, machine.isDefinitionChanged { throw machine.definitionChanged }
      throw AgentFailure(
        .unavailable, "\(name): \(failure.message)", hint: "look at the file, then try again: it is read anew")
    }
  }

  /// Six times as many, which JSON makes of them at most, are an answer still.
  private static let authorityBytes = 512 << 10

  /// A request found another authority than the one that was agreed to. A thousand accounts may find that at once, and as
  /// long as the file is gone each finds it again and again: the files are read once in a while for all of them.
  func authorityDiffers() async {
    if files.readings.beginsForAuthority(at: time.now().bootSeconds) { _ = await filesChanged() }
  }

  private static func answer(_ read: Configuration) -> ConfigReloadAnswer {
    let (problems, leftOut) = FileProblems(read.problems).cut
    return ConfigReloadAnswer(accounts: read.definitions.count, problems: problems, problemsLeftOut: leftOut)
  }

  /// What the files say, read after this was called, and taken over.
  func readFiles() async -> Configuration {
    await files.readings.join { await self.readNow() }.value
  }

  private func readNow() async -> Configuration {
    files.readings.begin()
    let read = await configuration.load()
    files.readings.end()
    if availability.isServing {
      apply(read)
      tellServing()
    } else {
      take(read, isServing: false)
    }
    return read
  }

  // MARK: Looking again

  // Some faults are mended outside of what the agent watches: it looks when somebody asks.

  /// Whether `name` is held back by something that may have been put right since, without a word to the agent.
  func mayBeMended(_ name: String) -> Bool {
    guard let machine = accounts[name]?.machine else { return false }
    return machine.isRolledBack || machine.isAuthorityChanged
  }

  /// Reads the files again while something of them could not be read, or has just changed.
  func lookAtFiles() async {
    let began = time.now().bootSeconds
    guard problems.mayBeMended || configuration.hasUnreadChange, files.readings.beginsForQuestion(at: began) else {
      return
    }
    _ = await filesChanged()
    files.readings.endForQuestion(began: began, at: time.now().bootSeconds)
  }

  /// Reads the files again where the private authority of one of `names` is the one that was agreed to. Returns whether
  /// that is so.
  package func lookAtAuthorities(of names: [String]) async -> Bool {
    // Many accounts have one in common.
    let agreed = names.compactMap { accounts[$0] }
      .filter(\.machine.isAuthorityChanged)
      .compactMap { $0.machine.record?.grant?.binding.route.authority }
    for authority in Set(agreed) {
      guard case .success = await configuration.content(authority) else { continue }
      _ = await filesChanged()
      // Those whose definition was there all the time wait for their next try.
      for account in names.compactMap({ accounts[$0] }) where account.machine.isAuthorityChanged {
        account.handle(.defined(account.machine.definition), at: time.now())
      }
      return true
    }
    return false
  }

  /// A commit counter that could not be read may be readable by now, and the vault of now may have been put back.
  package func lookAtRollback() async {
    guard isOpen, availability.rollback != nil else { return }
    await lookAtVault()
    let now = await store.rolledBackFrom
    guard availability.isServing, now != availability.rollback else { return }
    guard now != nil else { return acceptRollback() }
    availability.rollback = now
    for account in accounts.values { account.handle(.rolledBack(from: now), at: time.now()) }
  }
}
