import Glibc

/// Whether a folder is the user's or root's, and nobody else can put something else in the place of what is in it. Asked of
/// every folder from `/` down: one that is closed, in one that is not, can be exchanged whole.
package struct FolderTrust: Sendable {
  /// What lstat(2) says.
  package struct Facts: Sendable, Equatable {
    package var isFolder: Bool
    package var owner: UInt32
    /// Nil: not looked at.
    package var group: UInt32?
    package var mode: UInt32

    package init(isFolder: Bool, owner: UInt32, group: UInt32? = nil, mode: UInt32) {
      self.isFolder = isFolder
      self.owner = owner
      self.group = group
      self.mode = mode
    }

    fileprivate init(_ found: stat) {
      self.init(
        isFolder: found.st_mode & S_IFMT == S_IFDIR, owner: found.st_uid, group: found.st_gid,
        mode: found.st_mode & 0o7777)
    }
  }

  package enum Fault: Sendable, Equatable {
    case noFolder
    case owner(UInt32)
    case mode(UInt32)
  }

  /// What is looked for in the folder.
  package enum Purpose: Sendable {
    /// Programs, which get tokens. No group may write, and in the last folder nobody may add one.
    case programs
    /// Files that are judged themselves as well. In homes some groups may write: what root lets a group write is root's
    /// business, and what `isPrivate` says that the group of a folder of his may write, nobody else may: see ``PrivateGroup``.
    /// It is asked only where that counts, since it looks at files.
    case files(isPrivate: @Sendable (_ group: UInt32, _ folder: String) -> Bool)
  }

  private let purpose: Purpose
  private let userID: UInt32
  private let facts: @Sendable (String) -> Facts?

  /// `facts`: nil where there is nothing.
  package init(for purpose: Purpose, userID: UInt32, facts: @escaping @Sendable (String) -> Facts?) {
    self.purpose = purpose
    self.userID = userID
    self.facts = facts
  }

  /// What is wrong with one folder, without links in its path. `isLast`: what is looked for is in it.
  package func fault(of folder: String, isLast: Bool) -> Fault? {
    guard let found = facts(folder), found.isFolder else { return .noFolder }
    guard isOwn(found.owner, at: folder) else { return .owner(found.owner) }
    return isClosed(folder, found, isLast: isLast) ? nil : .mode(found.mode & 0o777)
  }

  /// Whether what is at `path` is the user's or root's, `owner` being whose lstat(2) says it is. Whose the whole tree is may
  /// change anything: root, or who stands for root in a user namespace. Where that maps only the user, strangers have the
  /// same number: a program is root's there where only root puts anything. Homes lie in folders of root's by any name.
  package func isOwn(_ owner: UInt32, at path: String) -> Bool {
    if owner == 0 || owner == userID { return true }
    guard owner == facts("/")?.owner else { return false }
    switch purpose {
    case .programs: return Self.isSystems(path) && !isHandedOn(path)
    case .files: return true
    }
  }

  /// The same of this system, for files of this process's user.
  package static func isOwn(_ owner: UInt32) -> Bool {
    owner == 0 || owner == geteuid() || owner == live("/")?.owner
  }

  /// What root often gives to somebody else: /usr/local to whoever installs programs there, and /app, which is root's in a
  /// Flatpak alone.
  private func isHandedOn(_ path: String) -> Bool {
    func isBelow(_ folder: String) -> Bool {
      path.utf8.elementsEqual(folder.utf8) || path.utf8.starts(with: "\(folder)/".utf8)
    }
    return isBelow("/usr/local") || isBelow("/app") && facts("/.flatpak-info") == nil
  }

  /// What only root fills, on one system or another.
  private static let systemFolders = ["/usr", "/etc", "/bin", "/sbin", "/nix/store", "/gnu/store", "/snap", "/app"]

  /// Whether `path`, without links, is such a folder, is in one, or leads to one.
  package static func isSystems(_ path: String) -> Bool {
    // Byte by byte: an accent after a slash does not hide it.
    func leads(_ path: String, to other: String) -> Bool {
      path == "/" || other.utf8.elementsEqual(path.utf8) || other.utf8.starts(with: "\(path)/".utf8)
    }
    return systemFolders.contains { leads(path, to: $0) || leads($0, to: path) }
  }

  private func isClosed(_ folder: String, _ found: Facts, isLast: Bool) -> Bool {
    // In a sticky folder, as /tmp is, others may add names, and cannot take away what is not theirs.
    let isSticky = found.mode & 0o1000 != 0
    switch purpose {
    case .programs: return found.mode & 0o022 == 0 || isSticky && !isLast
    case .files(let isPrivate):
      if isSticky || found.mode & 0o022 == 0 { return true }
      if found.mode & 0o002 != 0 { return false }
      if found.owner != userID { return true }
      return !isLast && (found.owner == 0 || found.group.map { isPrivate($0, folder) } ?? false)
    }
  }

  /// lstat(2) on this machine, now.
  @Sendable package static func live(_ path: String) -> Facts? {
    var found = stat()
    return lstat(path, &found) == 0 ? Facts(found) : nil
  }

  /// stat(2) on this machine, now: of what a symbolic link leads to.
  @Sendable package static func followed(_ path: String) -> Facts? {
    var found = stat()
    return stat(path, &found) == 0 ? Facts(found) : nil
  }
}
