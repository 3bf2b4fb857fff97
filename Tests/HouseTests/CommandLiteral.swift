import Foundation

/// A string literal that begins with a command, as the next steps of failures do.
struct CommandLiteral {
  /// Up to a comment; what is interpolated is a plain word.
  let command: String

  /// Words of a sentence about the command, which a shell would take for its arguments.
  var hasProse: Bool {
    [", ", " or ", " then ", "(", ": ", " tells ", " at a "].contains { command.contains($0) }
  }

  private static let beginnings =
    [
      "login", "get-token", "status", "curl", "setup", "account", "secret", "logout", "vault", "agent", "doctor",
      "reload", "client-metadata",
    ].map { "oauthctl \($0)" } + ["systemctl ", "git config ", "curl ", "export ", "unset ", "mv ", "chmod ", "kill "]

  /// Those of a line of Swift.
  static func all(in line: String) -> [CommandLiteral] {
    literals(in: line).compactMap { literal in
      isCommand(literal) ? CommandLiteral(command: literal.components(before: "   # ")) : nil
    }
  }

  /// Whether a text begins with a command, and is no sentence about curl.
  static func isCommand(_ text: String) -> Bool {
    let sentences = ["curl option", "curl cannot", "curl is", "curl shows"]
    return beginnings.contains(where: text.hasPrefix) && !sentences.contains(where: text.hasPrefix)
  }

  /// The outermost literals, with `X` for what is interpolated.
  private static func literals(in line: String) -> [String] {
    var found: [String] = []
    var current: String?
    // Brackets that are open within an interpolation.
    var depth = 0
    var isEscaped = false
    for character in line {
      if depth > 0 {
        if character == "(" { depth += 1 }
        if character == ")" { depth -= 1 }
      } else if isEscaped {
        isEscaped = false
        if character == "(" {
          depth = 1
          current?.append("X")
        } else {
          current?.append(character)
        }
      } else if character == "\"" {
        if let whole = current { found.append(whole) }
        current = current == nil ? "" : nil
      } else if character == "\\", current != nil {
        isEscaped = true
      } else {
        current?.append(character)
      }
    }
    return found
  }
}

extension String {
  fileprivate func components(before mark: String) -> String {
    guard let range = range(of: mark) else { return self }
    return String(self[..<range.lowerBound])
  }
}
