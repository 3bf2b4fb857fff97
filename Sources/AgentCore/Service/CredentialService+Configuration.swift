package import AgentWire
import OAuthProtocol

/// What the service does, for one line of `systemctl status`.
package enum ServingState: Sendable {
  case accounts(Int, problems: [ConfigurationProblem])
  case locked
}

/// Reading the configuration files: elsewhere, since it may take long, and taken over here in one step.
extension CredentialService {
  /// From now on `serving` is called after each reading of the files, each unlock and each lock.
  package func follow(_ serving: @escaping @Sendable (ServingState) -> Void) {
    self.serving = serving
    // A caller may have been faster.
    if isOpen { tellServing() }
  }

  func tellServing() {
    serving?(isLocked ? .locked : .accounts(definedCount, problems: problems.all))
  }

  package func reload() async throws(AgentFailure) -> ConfigReloadAnswer {
    try await open()
    return Self.answer(await readFiles())
  }

  /// As `reload`, when the files have been read before; nil: the first request reads them.
  package func filesChanged() async -> ConfigReloadAnswer? {
    lockedList = nil
    // What it read may have been the files before they changed.
    if let opening { _ = await opening.value }
    return isOpen && !isLocked ? Self.answer(await readFiles()) : nil
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
    let now = time.now().bootSeconds
    guard now - authorityRead >= Self.authorityPauseSeconds else { return }
    authorityRead = now
    _ = await filesChanged()
  }

  /// Seconds between two such readings: a person who puts the file back waits no longer, and a thousand accounts cost
  /// one.
  private static let authorityPauseSeconds = 5.0

  private static func answer(_ read: Configuration) -> ConfigReloadAnswer {
    let (problems, leftOut) = FileProblems(read.problems).cut
    return ConfigReloadAnswer(accounts: read.definitions.count, problems: problems, problemsLeftOut: leftOut)
  }

  /// What the files say, read after this was called, and taken over.
  ///
  /// One reading follows another. Whoever comes while one is under way shares the next: what is to be read may have been
  /// written since that one began.
  func readFiles() async -> Configuration {
    if let nextReading { return await nextReading.value }
    let before = reading
    let task = Task {
      _ = await before?.value
      return await self.readNow()
    }
    nextReading = task
    return await task.value
  }

  private func readNow() async -> Configuration {
    reading = nextReading
    nextReading = nil
    let read = await configuration.load()
    reading = nil
    if isOpen, !isLocked {
      apply(read)
      tellServing()
    } else {
      problems = FileProblems(read.problems)
      lockedCount = read.definitions.count
    }
    return read
  }
}
