import Glibc

/// Command lines that are understood whole without ArgumentParser, which alone takes longer than a token does. Any
/// other spelling, `nil` here, goes to ArgumentParser: there is one grammar, and this is a small part of it.
enum HotCommand: Equatable, Sendable {
  case getToken(account: String)
  case gitCredential(operation: String)

  /// `arguments` with the program's name first.
  init?(_ arguments: [String]) {
    guard let program = arguments.first else { return nil }
    if FileBytes.name(of: program) == "git-credential-oauthctl" {
      guard arguments.count == 2, Self.isOperation(arguments[1]) else { return nil }
      self = .gitCredential(operation: arguments[1])
      return
    }
    guard arguments.count == 3 else { return nil }
    switch arguments[1] {
    case "get-token" where AccountName.isValid(arguments[2]): self = .getToken(account: arguments[2])
    case "git-credential" where Self.isOperation(arguments[2]): self = .gitCredential(operation: arguments[2])
    default: return nil
    }
  }

  private static func isOperation(_ word: String) -> Bool { ["get", "store", "erase"].contains(word) }
}
