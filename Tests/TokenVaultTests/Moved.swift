import Glibc
import Testing

/// What may happen to a sealed file that lies beside the vault, and costs nothing of what is in it.
enum Moved: CaseIterable {
  case readableByOthers, secondName, folderOpenToOthers, folderAboveOpenToOthers, folderMoved, folderAboveMoved

  func happen(to path: String) throws {
    func folder(_ path: String) -> String { String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) }
    func move(_ path: String) {
      #expect(rename(path, path + ".moved") == 0 && symlink(path + ".moved", path) == 0)
    }
    switch self {
    case .readableByOthers: #expect(chmod(path, 0o666) == 0)
    case .secondName: #expect(link(path, path + ".copy") == 0)
    case .folderOpenToOthers: #expect(chmod(folder(path), 0o777) == 0)
    case .folderAboveOpenToOthers: #expect(chmod(folder(folder(path)), 0o775) == 0)
    case .folderMoved: move(folder(path))
    case .folderAboveMoved: move(folder(folder(path)))
    }
  }
}
