import CLinux
import SystemFacts

extension NetworkFileSystem {
  /// Throws `networkFileSystem` when `path` (which exists) is on one.
  static func refuse(_ path: String) throws(VaultError) {
    let type = clinux_filesystem_type(path)
    guard type != -1 else { throw .system("statfs", path) }
    if let name = name(ofType: type) { throw .networkFileSystem(path: "\(path) (\(name))") }
  }
}
