import HelperFormats

/// Command lines that are understood whole without ArgumentParser, which alone takes longer than a token does. Any
/// other spelling, `nil` here, goes to ArgumentParser: there is one grammar, and this is a small part of it.
enum HotCommand: Equatable, Sendable {
  case getToken(account: String)
  case gitCredential(GitOperation, account: String?)

  /// `arguments` with the program's name first.
  init?(_ arguments: [String]) {
    guard let program = arguments.first else { return nil }
    if let dialect = Dialect(program: FileBytes.name(of: program)) {
      self.init(dialect, arguments.dropFirst())
      return
    }
    guard arguments.count > 2 else { return nil }
    if arguments.count == 3, arguments[1] == "get-token", AccountName.isValid(arguments[2]) {
      self = .getToken(account: arguments[2])
    } else if let dialect = Dialect(subcommand: arguments[1]) {
      self.init(dialect, arguments.dropFirst(2))
    } else {
      return nil
    }
  }

  private init?(_ dialect: Dialect, _ words: ArraySlice<String>) {
    // A program that is called for each token and takes no longer itself; curl takes far longer than the reading of its
    // words.
    guard dialect == .git else { return nil }
    self.init(git: words)
  }

  /// `[--account NAME] OPERATION`, as `setup git` writes it and git completes it.
  private init?(git words: ArraySlice<String>) {
    var words = words
    var account: String?
    if words.count == 3, words.first == "--account", let name = words.dropFirst().first, AccountName.isValid(name) {
      account = name
      words = words.dropFirst(2)
    }
    guard words.count == 1, let operation = words.first.flatMap(GitOperation.init) else { return nil }
    self = .gitCredential(operation, account: account)
  }
}
