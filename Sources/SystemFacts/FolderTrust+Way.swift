import CLinux
import Glibc

extension FolderTrust {
  /// Where somebody else can put something else on a way, with all that is behind it.
  package enum WayFault: Sendable, Equatable {
    case folder(String, Fault)
    /// `owner` nil: it is gone.
    case link(String, owner: UInt32?)
    /// It is not there, and others may make it, since they may add names to a folder.
    case missing(String, in: String)
    /// Nobody can tell where the path leads.
    case unclear(String)

    /// A sentence without its full stop.
    package var reason: String {
      switch self {
      case .folder(let path, .owner(let owner)): "\(path) \(FileOwner.reason(owner))"
      case .folder(let path, .mode(let mode)): "\(path) may be written by others (mode \(FileMode.digits(mode)))"
      case .folder(let path, .noFolder): "\(path) is no folder"
      case .link(let path, let owner?): "the link \(path) \(FileOwner.reason(owner))"
      case .link(let path, nil): "the link \(path) is gone"
      case .missing(let path, let folder): "\(path) is not there, and others may make it in \(folder)"
      case .unclear(let path): "\(path) leads behind too many links, or behind one to a name that is no UTF-8"
      }
    }

    /// The command that mends it; nil: there is none that this user is to run.
    package var remedy: String? {
      switch self {
      case .folder(let path, .mode):
        let isOwn = FolderTrust.live(path)?.owner == geteuid()
        return FileMode.keepingOthersOut(of: ShellWord.quoted(path), isOwn: isOwn)
      case .missing(let path, _): return "mkdir -m 700 \(ShellWord.quoted(path))"
      case .folder, .link, .unclear: return nil
      }
    }
  }

  /// For files of user `userID`, on this machine.
  package static func files(of userID: UInt32) -> FolderTrust {
    // An access list may let others write through the group's rights.
    FolderTrust(
      for: .files { group, folder in group == PrivateGroup.own && clinux_has_access_list(folder) == 0 },
      userID: userID, facts: live)
  }

  /// The first fault of `folders`, which are on `way`, or of its links. `last`: the folder that the file is in.
  package func fault(on way: PathWalk, folders: [String], last: String?) -> WayFault? {
    for folder in folders {
      // Byte by byte: two names may be one text (Unicode) and two folders.
      let isLast = last.map { folder.utf8.elementsEqual($0.utf8) } ?? false
      if let fault = fault(of: folder, isLast: isLast) { return .folder(folder, fault) }
    }
    // In a folder like /tmp a link is whose it is to turn.
    for link in way.links {
      guard let owner = Self.live(link)?.owner else { return .link(link, owner: nil) }
      if !isOwn(owner, at: link) { return .link(link, owner: owner) }
    }
    return nil
  }

  /// The same for the way to a folder that may have to be made. `path` is absolute.
  package func fault(toMake path: String) -> WayFault? {
    guard let way = PathWalk.live(toMake: path) else { return .unclear(path) }
    let folders = way.folders + [way.end]
    // A `..` may lead back from what is not there.
    if let fault = fault(on: way, folders: folders.filter { Self.live($0) != nil }, last: nil) { return fault }
    for missing in folders where Self.live(missing) == nil {
      let folder = PathWalk.parent(of: missing)
      guard let found = Self.live(folder), found.mode & 0o1000 != 0, found.mode & 0o022 != 0 else { continue }
      return .missing(missing, in: folder)
    }
    return nil
  }
}
