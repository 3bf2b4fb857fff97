import Glibc

/// A program that was installed beside this one, and is started from there without a look at `PATH`.
///
/// Whoever can put another program in the place of this one needs no program beside it. So one beside it is refused only
/// where somebody else can put it there: in a folder where everybody may add names, as in /tmp, or where it is another
/// user's.
package enum ProgramBeside {
  /// Why the program may be somebody else's.
  package enum Fault: Sendable, Equatable {
    /// Everybody may add names to its folder.
    case folder(String, mode: UInt32)
    /// Everybody may change its bytes.
    case program(String, mode: UInt32)
    case owner(String, UInt32)

    /// A sentence without its full stop.
    package var reason: String {
      switch self {
      case .folder(let path, let mode):
        "everybody may put a program into \(path) (mode \(FileMode.digits(mode))), so none is started from there"
      case .program(let path, let mode): "everybody may change \(path) (mode \(FileMode.digits(mode)))"
      case .owner(let path, let owner): "\(path) \(FileOwner.reason(owner))"
      }
    }

    /// Advice, without a full stop.
    package static let remedy = "move oauthctl and the programs beside it to a folder where only you may write"
  }

  /// Of the program at `path`, which need not be there, for a process of user `userID` whose own program belongs to
  /// `programOwner` (nil: not known). `facts` are those of lstat(2), `followed` those of stat(2).
  package static func fault(
    of path: String, programOwner: UInt32?, userID: UInt32, facts: @escaping @Sendable (String) -> FolderTrust.Facts?,
    followed: (String) -> FolderTrust.Facts?
  ) -> Fault? {
    let folder = PathWalk.parent(of: path)
    // Groups have their own rules (`staff` in /usr/local of Debian).
    let folderMode = followed(folder)?.mode ?? 0
    if folderMode & 0o002 != 0 { return .folder(folder, mode: folderMode) }
    let trust = FolderTrust(for: .programs, userID: userID, facts: facts)
    // In a user namespace root and strangers may have one number, and then a group may be of strangers.
    let isOneForMany = programOwner != 0 && programOwner != userID && programOwner == facts("/")?.owner
    for found in [facts(path), followed(path)].compactMap({ $0 }) where !trust.isOwn(found.owner, at: path) {
      guard found.owner == programOwner, !isOneForMany || folderMode & 0o020 == 0 else {
        return .owner(path, found.owner)
      }
    }
    if let found = followed(path), found.mode & 0o002 != 0 { return .program(path, mode: found.mode) }
    return nil
  }

  /// The same on this machine, now.
  package static func fault(of path: String) -> Fault? {
    fault(
      of: path, programOwner: FolderTrust.followed("/proc/self/exe")?.owner, userID: geteuid(), facts: FolderTrust.live,
      followed: FolderTrust.followed)
  }

  /// The first folder on the way to `path`, which has no links, where somebody else may put another folder or program: at
  /// once, or once what is there has gone, as in /tmp. Nil: there is none.
  package static func openFolder(above path: String) -> String? {
    guard let way = PathWalk.live(path) else { return nil }
    return way.folders.first { folder in
      FolderTrust.live(folder).map { $0.mode & 0o002 != 0 || !FolderTrust.isOwn($0.owner) } ?? false
    }
  }
}
