/// What is wrong in a configuration file: enough to open it at the place.
package struct ConfigurationProblem: Codable, Sendable, Equatable {
  package var file: String
  /// Counted from 1; nil where the parser cannot tell.
  package var line: Int?
  package var key: String?
  package var reason: String
  /// What a person can do about it, where that is more than to edit the file; see `NextStep`.
  package var hint: String?
  /// `command` where `hint` is one.
  package var hintKind: String?
  /// The account's file that is kept from use by it, where that is not `file`. It never crosses the wire: the same fault of
  /// several accounts is told once.
  package var hinderedFile: String?

  package init(
    file: String, line: Int?, key: String?, reason: String, hint: NextStep? = nil, hinderedFile: String? = nil
  ) {
    self.file = file
    self.hinderedFile = hinderedFile
    self.line = line
    self.key = key
    self.reason = reason
    self.hint = hint?.text
    hintKind = hint?.kind
  }

  package enum CodingKeys: String, CodingKey {
    case file, line, key, reason, hint
    case hintKind = "hint_kind"
  }
}

extension ConfigurationProblem {
  /// What helps where an edit of the file does.
  package static let edit: NextStep = "put that right: the agent reads it again by itself"

  /// The file that it keeps from use.
  package var concernedFile: String { hinderedFile ?? file }

  /// The account whose file it keeps from use; nil: another file, or a folder.
  package var accountName: String? {
    let (file, end) = (concernedFile, ".toml")
    guard let slash = file.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
    let name = file[file.utf8.index(after: slash)...]
    return file[...slash].hasSuffix("/accounts.d/") && name.hasSuffix(end) ? String(name.dropLast(end.utf8.count)) : nil
  }

  /// `FILE:LINE: key: reason`, the same wherever it is told.
  package var sentence: String {
    file + (line.map { ":\($0)" } ?? "") + ": " + (key.map { "\($0): " } ?? "") + reason
  }
}

/// `config.reload`: reads the configuration files again; files with problems keep their last good definition.
package struct ConfigReload: ParameterlessRequest {
  package typealias Answer = ConfigReloadAnswer
  package static let method = Method.configReload

  package init() {}
}

package struct ConfigReloadAnswer: Codable, Sendable, Equatable {
  package var accounts: Int
  /// The first ones.
  package var problems: [ConfigurationProblem]
  /// How many more there are; nil: none.
  package var problemsLeftOut: Int?

  package init(accounts: Int, problems: [ConfigurationProblem], problemsLeftOut: Int? = nil) {
    self.accounts = accounts
    self.problems = problems
    self.problemsLeftOut = problemsLeftOut
  }

  package enum CodingKeys: String, CodingKey {
    case accounts, problems
    case problemsLeftOut = "problems_left_out"
  }
}
