/// What a person reads before a login goes to another server than that of the URL.
///
/// What that server wrote stands first, and where it is long no line of the terminal begins with it. However much there is
/// of it, the last lines are this program's, and the question names the server.
struct ServerQuestion {
  /// What leaves its logins to another server.
  let resource: String
  let issuer: String
  /// Where the token will be sent.
  let destination: String
  let scope: [String]

  /// Columns of the narrowest terminal that shows each line as it is.
  private static let width = 80
  private static let indentation = "    "

  /// What the question is about.
  var lines: [String] {
    let purpose =
      scope.isEmpty ? ["It is for what that server gives by itself."] : Self.lines("It is for:", scope)
    return purpose + Self.lines("\(resource) leaves its logins to another server:", [issuer])
      + ["The token will be sent to: \(destination)"]
  }

  /// The last line.
  var question: String { "Log in at \(NewAccount.origin(of: issuer) ?? issuer)?" }

  /// One line where all fits into it; else each of `words` has its own. ``QuestionText`` breaks a long one.
  static func lines(_ label: String, _ words: [String]) -> [String] {
    let line = ([label] + words).joined(separator: " ")
    return line.count < width ? [line] : [label] + words.map { indentation + $0 }
  }
}
