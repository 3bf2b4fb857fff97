import AgentClient
import AgentWire
import Glibc
import SystemFacts

extension SetupCommand {
  /// - Throws: `CommandError.configuration` where files of another user would be changed, and would be this one's then: in his home, or
  ///   at `paths`, which variables that su(1) keeps may name.
  static func checkHome(_ environment: Environment, writing paths: [String]) throws(CommandError) {
    if let home = environment.home,
      let refusal = StartPolicy.othersHome(
        home, LiveSystem.followedStatus(home), isSudo: environment["SUDO_UID"] != nil, effectiveUID: geteuid())
    {
      throw .configuration("\(refusal.reason); nothing is written", next: refusal.hint)
    }
    for path in paths {
      let missing = FileBytes.missingFolders(above: path)
      let folder = FileBytes.folder(of: missing.last ?? path)
      for place in [folder, path] {
        guard let owner = LiveSystem.followedStatus(place)?.owner, !FolderTrust.isOwn(owner) else { continue }
        throw .configuration(
          "\(place) \(FileOwner.reason(owner)); nothing is written",
          next: "name folders of your own by XDG_CONFIG_HOME, XDG_DATA_HOME and GIT_CONFIG_GLOBAL, or take these out")
      }
    }
  }
}
