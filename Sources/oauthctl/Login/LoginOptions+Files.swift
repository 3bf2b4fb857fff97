import AgentWire
import Glibc
import SystemFacts

/// Files that are named on the command line.
extension LoginOptions {
  /// The whole path of `--ca`. Nobody reaches a server with a file that names no authority, and libcurl would only say that
  /// it cannot import it. One that cannot be read is told by the agent, which has to read it.
  static func certificates(_ typed: String?, in workingFolder: String?) throws(CommandError) -> String? {
    guard let path = try file("--ca", typed, in: workingFolder) else { return nil }
    var found = stat()
    guard stat(path, &found) == 0, found.st_mode & S_IFMT == S_IFREG, let bytes = FileBytes.contents(of: path),
      String(decoding: bytes, as: UTF8.self).range(ofText: "CERTIFICATE-----") == nil
    else { return path }
    throw .usage(
      "--ca \(path): it holds no certificate (PEM)",
      next: "name the file with the certificate of the server's authority")
  }

  /// The whole path of a file that was named.
  ///
  /// - Throws: `CommandError.usage` where there is none.
  static func file(_ flag: String, _ typed: String?, in workingFolder: String?) throws(CommandError) -> String? {
    guard let typed else { return nil }
    guard let path = absolute(typed, in: workingFolder) else {
      throw .usage(
        "\(flag) \(typed): the folder that this shell is in is gone, or its name is no UTF-8",
        next: "run the command again with the whole path of the file")
    }
    var found = stat()
    guard stat(path, &found) != 0, errno == ENOENT || errno == ENOTDIR else { return path }
    throw .usage("\(flag) \(path): there is no such file")
  }

  /// A shell leaves `~/` as it is behind `=`, and in quotation marks: the home folder is meant, as in account files. Nil: it is
  /// relative, and nobody knows to what.
  static func absolute(
    _ path: String, in workingFolder: String?, home: String? = Environment.live.home
  ) -> String? {
    if let whole = TildePath.expanded(path, home: home) { return whole }
    return PathWalk.isAbsolute(path) ? path : workingFolder.map { $0 + "/" + path }
  }
}
