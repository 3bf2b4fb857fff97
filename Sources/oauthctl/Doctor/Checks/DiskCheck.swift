import AgentWire
import SystemFacts

/// The file systems below the vault and what opens it.
enum DiskCheck {
  /// Bytes that must be free for the vault to go on: more than the vault of a thousand accounts, which a rekey writes
  /// anew.
  static let leastFreeBytes = 16 << 20

  /// What is wrong with them; nil: nothing. `vault` is the vault's folder.
  static func finding(_ vault: String, _ context: DoctorContext) -> Finding? {
    let state = context.status?.folders?[BaseFolder.state.rawValue] ?? context.environment.folder(.state)
    let folders = [vault, state].compactMap(\.self).filter { context.machine.status($0) != nil }
    if let folder = folders.first(where: context.machine.isReadOnly) {
      return .wrong(
        "disk", "\(context.shown(folder)) is on a file system that is mounted read-only: no new token can be kept",
        FileBytes.writableAgain(folder))
    }
    for folder in folders {
      guard let free = context.machine.freeBytes(folder), free < leastFreeBytes else { continue }
      return .wrong(
        "disk",
        "\(free >> 20) MiB are free at \(context.shown(folder)), of the \(leastFreeBytes >> 20) that should be: a new refresh "
          + "token may find no room",
        .advice("make room at \(context.shown(folder))"))
    }
    if context.machine.isNetworkFileSystem(vault) {
      return .note(
        "disk", "\(context.shown(vault)) is on a network file system, where locks and fsync promise little",
        .advice("set XDG_DATA_HOME to a local folder, for you and the agent"))
    }
    return nil
  }
}
