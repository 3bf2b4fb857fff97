import HelperFormats

/// Command lines that are understood whole without ArgumentParser, which alone takes longer than a token does. Any
/// other spelling, `nil` here, goes to ArgumentParser: there is one grammar, and this is a small part of it.
enum HotCommand: Equatable, Sendable {
  case getToken(account: String)
  case gitCredential(GitOperation)

  /// `arguments` with the program's name first.
  init?(_ arguments: [String]) {
    guard let program = arguments.first else { return nil }
    if FileBytes.name(of: program) == "git-credential-oauthctl" {
      guard arguments.count == 2, let operation = GitOperation(arguments[1]) else { return nil }
      self = .gitCredential(operation)
      return
    }
    guard arguments.count == 3 else { return nil }
    if arguments[1] == "get-token", AccountName.isValid(arguments[2]) {
      self = .getToken(account: arguments[2])
    } else if arguments[1] == "git-credential", let operation = GitOperation(arguments[2]) {
      self = .gitCredential(operation)
    } else {
      return nil
    }
  }
}
