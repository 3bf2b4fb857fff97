import Glibc
import SystemFacts

extension LoginCommand {
  /// The file of the account that was named, as a person reads it; nil: there is none.
  func knownFile(_ context: CommandContext) throws(CommandError) -> String? {
    guard let name, AccountName.isValid(name) else { return nil }
    let file = try SettingsFile(account: name, in: context.environment)
    return file.exists ? context.environment.abbreviated(file.path) : nil
  }

  /// Nil: it is gone, or its name is no UTF-8.
  static var workingFolder: String? {
    guard let path = getcwd(nil, 0) else { return nil }
    defer { free(path) }
    return String(validatingCString: path).flatMap { PathWalk.isAbsolute($0) ? $0 : nil }
  }
}
