import CLinux
import Glibc
import SystemFacts

/// What there is to be watched.
extension ConfigurationFolder {
  /// Calls `look` with the path of `config.toml`, there or not, and with those of the account files.
  func forEachFile(_ look: (String) -> Void) {
    look(settingsFile)
    guard let entries = opendir(accountsFolder) else { return }
    defer { closedir(entries) }
    var left = ConfigurationLimits.names
    while left > 0, let entry = readdir(entries) {
      left -= 1
      let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
        name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name.hasSuffix(".toml"), !name.hasPrefix(".") { look(accountsFolder + "/" + name) }
    }
  }

  /// Whether changes in it may go unseen by who watches it: on a network, or where a link on the way is turned.
  var hidesChanges: Bool {
    [path, accountsFolder].contains { Self.isBehindOwnLink($0) || Self.isOnNetwork($0) }
  }

  /// Whether another machine may write there, of which this one's kernel hears nothing.
  private static func isOnNetwork(_ path: String) -> Bool {
    NetworkFileSystem.name(ofType: clinux_filesystem_type(path)) != nil
  }

  /// Whether a link on the way is the user's, who may turn it. Those of the system stay as they are.
  private static func isBehindOwnLink(_ path: String) -> Bool {
    var end = path.utf8.startIndex
    while let slash = path.utf8[end...].dropFirst().firstIndex(of: UInt8(ascii: "/")) {
      if isOwnLink(String(path[..<slash])) { return true }
      end = slash
    }
    return isOwnLink(path)
  }

  private static func isOwnLink(_ path: String) -> Bool {
    var found = stat()
    return lstat(path, &found) == 0 && found.st_mode & S_IFMT == S_IFLNK && found.st_uid == geteuid()
  }
}
