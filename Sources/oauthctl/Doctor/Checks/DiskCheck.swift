import AgentWire
import SystemFacts

/// The file systems below the vault and what opens it.
enum DiskCheck {
  /// What is wrong where nothing may be written; nil: it may. `vault` is the vault's folder.
  static func readOnly(_ vault: String, _ context: DoctorContext) -> Finding? {
    let state = context.status?.folders?[BaseFolder.state.rawValue] ?? context.environment.folder(.state)
    let found = [vault, state].compactMap(\.self).first { folder in
      context.machine.status(folder) != nil && context.machine.isReadOnly(folder)
    }
    return found.map { folder in
      .wrong(
        "disk", "\(context.shown(folder)) is on a file system that is mounted read-only: no new token can be kept",
        .advice("make that file system writable again; findmnt -T \(context.quoted(folder)) shows which it is"))
    }
  }
}
