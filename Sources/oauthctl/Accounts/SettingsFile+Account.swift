import AgentWire
import Glibc
import SystemFacts

/// `accounts.d/NAME.toml`. The agent only reads these files; people and this program write them.
extension SettingsFile {
  /// - Throws: `CommandError.configuration` when neither `HOME` nor `XDG_CONFIG_HOME` says where files are.
  init(account: String, in environment: Environment) throws(CommandError) {
    guard let folder = environment.folder(.configuration) else {
      throw .configuration("HOME is not set, so there is no place for account files", next: .run("export HOME=…"))
    }
    self.init(path: "\(folder)/accounts.d/\(account).toml")
  }

  /// Whether a text has the key that every account file has.
  static func isAccount(_ text: String) -> Bool {
    FileLines.shown(text).contains { line in
      guard let equals = line.firstIndex(of: "=") else { return false }
      return String(line[..<equals]).trimmed == "issuer"
    }
  }

  /// - Throws: `CommandError.configuration` when it is there, in a folder that nothing can be removed from, or is a folder
  ///   itself.
  func checkRemovable() throws(CommandError) {
    let folder = FileBytes.folder(of: path)
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT != S_IFDIR else {
      throw .configuration(
        "\(path) is a folder; nothing is forgotten",
        next: .run("mv \(ShellWord.quoted(path)) \(ShellWord.quoted(path + ".old"))"))
    }
    guard access(folder, W_OK | X_OK) != 0 else { return }
    let code = errno
    throw .configuration(
      "cannot remove \(path): \(FileBytes.errorText(code)); nothing is forgotten",
      next: FileBytes.writing(in: folder, failed: code) ?? .run("ls -ld \(ShellWord.quoted(folder))"))
  }
}
