import AgentClient
import AgentWire
import Glibc
import SystemFacts

extension SetupCommand {
  /// - Throws: `CommandError.configuration` where files of another user would be changed, and would be this one's then: in his
  ///   home, at `paths`, or in `folders`, which variables that su(1) keeps may name.
  static func checkHome(
    _ environment: Environment, writing paths: [String], in folders: [String] = []
  ) throws(CommandError) {
    if let home = environment.home,
      let refusal = StartPolicy.othersHome(
        home, LiveSystem.followedStatus(home), isSudo: environment["SUDO_UID"] != nil, effectiveUID: geteuid())
    {
      throw .configuration("\(refusal.reason); nothing is written", next: refusal.hint)
    }
    for folder in paths.map(FileBytes.folder(of:)) + folders { try FileBytes.checkOwn(folder) }
    for path in paths {
      guard let owner = LiveSystem.followedStatus(path)?.owner, !FolderTrust.isOwn(owner) else { continue }
      throw .configuration(
        "\(path) \(FileOwner.reason(owner)); nothing is written",
        next: "name a file of your own by GIT_CONFIG_GLOBAL, or remove it")
    }
  }
}
