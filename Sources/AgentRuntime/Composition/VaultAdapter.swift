import AgentCore
package import AgentWire
import Sealing
package import TokenVault

/// The vault as the router sees it: words of the wire in, words of the wire out.
package struct VaultAdapter: VaultControl {
  private let vault: Vault
  private let reader: VaultStatusReader

  package init(_ vault: Vault) {
    self.vault = vault
    reader = VaultStatusReader { await Self.status(of: vault) }
  }

  package func status() async -> VaultStatusAnswer { await reader.status() }

  private static func status(of vault: Vault) async -> VaultStatusAnswer {
    let status = await vault.status()
    let slots = status.slots.map { slot in
      let fault = slot.kind == .keyFile ? status.keyFileFault?.slotFault : nil
      // A kind of a later version has no name here.
      return slot.kind.map { VaultSlotKind($0).entry(fault ?? (slot.isIntact ? nil : .damaged)) }
        ?? "slot_\(slot.number)" + (slot.isIntact ? "" : " (damaged)")
    }
    var (state, reason) = words(status.state)
    var hint: NextStep?
    if let rollback = status.rollback {
      let failure = AgentFailure(.rolledBack(rollback))
      reason = failure.message
      if case .counterUnreadable = rollback.cause { hint = failure.hint }
    }
    if reason == nil, let problem = status.filesProblem {
      reason = problem
      hint =
        status.isAloneWithLast
        ? "put that right before the agent ends: it alone has what was written last; then: oauthctl vault status"
        : "put that right, then: oauthctl vault status"
    }
    // A vault that is shut for want of room is the same fault, and tells less of it.
    if reason == nil || isFull(status.state), let problem = status.roomProblem, case .noRoom(_, let why) = problem {
      (reason, hint) = (why, AgentFailure(problem).hint)
    }
    // First: the same fault often keeps the counter from being written, and is told there as less than it is.
    if reason == nil, let problem = status.purgeProblem {
      reason = problem
      hint = "put that right, then: oauthctl vault status"
    } else if reason == nil, let problem = status.counterProblem {
      reason = problem
      hint =
        status.isCounterMadeAnew
        ? "nothing, if it was you who took that file away" : "make that file one that you alone can write"
    }
    if reason == nil, status.isKeyFileWaiting {
      reason =
        "vault.key could not be replaced after a rekey: the new key waits beside it, in vault.key.next, and is used"
      hint = "let vault.key be replaced (is it a mount, or immutable?), then: oauthctl agent restart"
    }
    if let fault = status.keyFileFault, status.slots.contains(where: { $0.kind == .keyFile }),
      state == .locked || state == .open && reason == nil && fault.slotFault == nil
    {
      reason = AgentFailure(fault).message
      if fault.slotFault != .missing || fault.isElsewhere { hint = AgentFailure(fault).hint }
    }
    if case .failed(let error) = status.state, [.failed, .damaged].contains(state) || error.isElsewhere {
      hint = AgentFailure(error).hint
    }
    return VaultStatusAnswer(
      state: state, slots: slots, path: status.path, vaultDigest: status.digest, reason: reason,
      rolledBack: status.rollback.map { _ in true },
      rollbackFound: status.rollback.map { Int(clamping: $0.found) },
      rollbackExpected: status.rollback.map { Int(clamping: $0.expected) }, rollbackDigest: status.rollbackDigest,
      recoveryCodeUntold: status.isCodeUntold ? true : nil, gone: isGone(status.state) ? true : nil,
      hint: hint, otherSlotOpens: canOpenOtherwise(status.state) ? true : nil,
      counterMadeAnew: status.isCounterMadeAnew && status.purgeProblem == nil ? true : nil,
      logLost: status.isAloneWithLast ? true : nil, keptInMemory: status.isKeptInMemory ? true : nil)
  }

  package func create(_ request: VaultCreate) async throws(AgentFailure) -> String? {
    do {
      return try await vault.create(
        anew: request.anew == true, confirmsCode: request.confirmsCode == true, shown: request.vaultDigest
      ).reveal()
    } catch {
      if case .alreadyExists = error { return nil }
      throw AgentFailure(error)
    }
  }

  package func confirm(_ request: VaultConfirmCode) async throws(AgentFailure) -> EmptyResult {
    await vault.confirmCode(Secret(request.recoveryCode))
    return EmptyResult()
  }

  // MARK: Locking

  package func hold() async throws(AgentFailure) {
    do { _ = try await vault.hold() } catch { throw AgentFailure(error) }
  }

  package func lock() async throws(AgentFailure) {
    do { try await vault.lock() } catch { throw AgentFailure(error) }
  }

  package func isSealed() async -> Bool { await !vault.opensWithoutSecret }

  package func unlock(_ request: VaultUnlock) async throws(AgentFailure) {
    let looks = request.dryRun == true
    guard request.passphrase == nil || request.recoveryCode == nil, !looks || request.passphrase != nil else {
      throw AgentFailure(.badRequest, "either a passphrase or a recovery code, and dry_run with a passphrase")
    }
    do throws(VaultError) {
      switch (request.passphrase.map { Secret($0) }, request.recoveryCode.map { Secret($0) }) {
      case (let passphrase?, _) where looks: try await vault.check(passphrase: passphrase)
      case (let passphrase?, _): try await vault.unlock(passphrase: passphrase)
      case (nil, let code?): try await vault.unlock(recoveryCode: code)
      case (nil, nil): try await vault.unlock()
      }
    } catch { throw AgentFailure(error) }
  }

  package func acceptRollback(_ request: VaultAcceptRollback) async throws(AgentFailure) {
    do {
      try await vault.acceptRollback(found: request.found, expected: request.expected, digest: request.digest)
    } catch { throw AgentFailure(error) }
  }

  // MARK: Slots

  package func slots() async throws(AgentFailure) -> VaultSlotsAnswer { await slots(nil) }

  private func slots(_ code: RecoveryCode?) async -> VaultSlotsAnswer {
    VaultSlotsAnswer(slots: await vault.status().slots.map(Self.slot), recoveryCode: code?.reveal())
  }

  package func setSlot(_ request: VaultSetSlot) async throws(AgentFailure) -> VaultSlotsAnswer {
    let current = request.current.map { Secret($0) }
    guard request.kind == .passphrase || (request.passphrase == nil && request.strength == nil) else {
      throw AgentFailure(.badRequest, "passphrase and strength are for kind passphrase only")
    }
    do throws(VaultError) {
      switch request.kind {
      case .keyFile: try await vault.addKeyFile(current: current)
      case .recoveryCode:
        let confirms = request.confirmsCode == true
        return await slots(try await vault.renewRecoveryCode(current: current, confirmsCode: confirms))
      case .passphrase:
        try await vault.setPassphrase(
          Secret(request.passphrase ?? ""), current: current, cost: (request.strength ?? .moderate).cost)
      }
    } catch { throw AgentFailure(error) }
    return await slots(nil)
  }

  package func removeSlot(_ request: VaultRemoveSlot) async throws(AgentFailure) -> VaultSlotsAnswer {
    do {
      try await vault.removeSlot(SlotKind(request.kind), current: request.current.map { Secret($0) })
    } catch { throw AgentFailure(error) }
    return await slots(nil)
  }

  package func rekey(_ request: VaultRekey) async throws(AgentFailure) -> VaultSlotsAnswer {
    do {
      let passphrase = request.passphrase.map { Secret($0) }
      return await slots(
        try await vault.rekey(passphrase: passphrase, confirmsCode: request.confirmsCode == true))
    } catch { throw AgentFailure(error) }
  }

  // MARK: Copies

  package func backup() async throws(AgentFailure) -> VaultBackupAnswer {
    do {
      let backup = try await vault.backup()
      return VaultBackupAnswer(path: backup.path, bytes: backup.byteCount, records: backup.recordCount)
    } catch { throw AgentFailure(error) }
  }

  package func check(_ request: VaultCheck) async throws(AgentFailure) -> VaultCheckAnswer {
    do throws(VaultError) {
      let report: Vault.Report
      if let path = request.path {
        report = try await vault.check(
          file: path, passphrase: request.passphrase.map { Secret($0) },
          recoveryCode: request.recoveryCode.map { Secret($0) })
      } else {
        report = try await vault.check()
      }
      return VaultCheckAnswer(
        records: report.recordCount, commit: Int(clamping: report.commit),
        openedBy: report.openedBy.map { VaultSlotKind($0).rawValue } ?? "vault_key",
        slots: report.slots.map(Self.slot),
        vault: report.vault.map { .init(records: $0.recordCount, commit: Int(clamping: $0.commit)) },
        lacksKeyFile: report.lacksKeyFile ? true : nil)
    } catch { throw request.path == nil ? AgentFailure(error) : Self.failure(ofCopy: error) }
  }

  /// The same errors in words about a copy: what mends the vault does nothing for it.
  private static func failure(ofCopy error: VaultError) -> AgentFailure {
    let other: NextStep = "check it with its passphrase or its recovery code"
    switch error {
    case .damaged(_, let what):
      return AgentFailure(
        .vaultDamaged, "the copy is damaged: \(what)",
        hint: "use another")
    case .otherKey:
      return AgentFailure(
        .keyMissing,
        "the key of this vault does not open the copy: it is from before a rekey, of another vault, or its key file was replaced",
        hint: other)
    case .noVault: return AgentFailure(.vaultDamaged, "that file is no vault", hint: "name a file that is one")
    case .wrongFormat:
      return AgentFailure(.vaultDamaged, "the copy: \(AgentFailure(error).message)", hint: "update oauthctl")
    case .keyMissing:
      return AgentFailure(.keyMissing, "no key file is here that could open the copy", hint: other)
    case .passphraseNeeded: return AgentFailure(.notPermitted, "no key file opens the copy", hint: other)
    case .wrongPassphrase: return AgentFailure(.vaultLocked, "that is not the passphrase of the copy", hint: other)
    case .invalidRecoveryCode:
      return AgentFailure(.vaultLocked, "that is not the recovery code of the copy", hint: other)
    case .noSuchSlot(let kind): return AgentFailure(.badRequest, "the copy has no \(kind.words)", hint: other)
    // These are about this machine.
    case .inUse, .absent, .gone, .locked, .unsafePermissions, .othersOwn, .openToOthers, .closedToOwner,
      .unreadable, .networkFileSystem, .storageFailed, .noRoom, .rolledBack, .rollbackChanged, .slotDamaged,
      .slotsChanged, .otherThanShown,
      .unusablePassphrase, .slotNeeded, .alreadyExists, .staleVersion, .replaced, .tooManyUnlocks, .tooManyTries:
      return AgentFailure(error)
    }
  }

  // MARK: Words

  private static func slot(_ slot: VaultStatus.Slot) -> VaultSlotsAnswer.Slot {
    VaultSlotsAnswer.Slot(
      number: Int(slot.number), kind: slot.kind.map { VaultSlotKind($0) }, intact: slot.isIntact,
      passes: slot.passes > 0 ? Int(slot.passes) : nil, memoryKiB: slot.memoryKiB > 0 ? Int(slot.memoryKiB) : nil)
  }

  /// Whether another slot than the one that was tried opens a damaged vault.
  private static func canOpenOtherwise(_ state: VaultStatus.State) -> Bool {
    guard case .failed(.damaged(let part, _)) = state else { return false }
    return switch part {
    case .slot, .keyFile: true
    case .contents: false
    }
  }

  private static func isFull(_ state: VaultStatus.State) -> Bool {
    if case .failed(.noRoom) = state { true } else { false }
  }

  private static func isGone(_ state: VaultStatus.State) -> Bool {
    if case .failed(.gone) = state { true } else { false }
  }

  private static func words(_ state: VaultStatus.State) -> (VaultStatusAnswer.State, String?) {
    switch state {
    case .absent: return (.absent, nil)
    case .open, .closed: return (.open, nil)
    case .locked, .failed(.locked): return (.locked, nil)
    case .failed(let error):
      let state: VaultStatusAnswer.State =
        switch error {
        case .keyMissing, .otherKey: .keyMissing
        case .inUse: .inUse
        case .damaged, .gone, .wrongFormat, .rolledBack, .slotDamaged: .damaged
        case .locked, .invalidRecoveryCode, .wrongPassphrase: .locked
        case .noVault, .absent, .unsafePermissions, .othersOwn, .openToOthers, .closedToOwner, .unreadable,
          .networkFileSystem, .storageFailed, .noRoom, .rollbackChanged, .passphraseNeeded, .slotsChanged,
          .otherThanShown, .unusablePassphrase, .noSuchSlot, .slotNeeded, .alreadyExists, .staleVersion, .replaced,
          .tooManyUnlocks,
          .tooManyTries:
          .failed
        }
      return (state, AgentFailure(error).message)
    }
  }
}

extension VaultError {
  /// What it says of slot 1, where it is about the key file. One that is there as it was written and only closed to its
  /// owner, or open to others, is no fault of the slot.
  fileprivate var slotFault: VaultSlotKind.Fault? {
    switch self {
    case .keyMissing: .missing
    case .damaged(.keyFile, _): .damaged
    default: nil
    }
  }
}
