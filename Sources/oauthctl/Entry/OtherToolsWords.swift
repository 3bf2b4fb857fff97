/// What other tools call a command of ours.
enum OtherToolsWords {
  private static let commands = [
    "account add": "login", "account create": "login", "account delete": "account forget",
    "account remove": "account forget", "account rm": "account forget", "delete": "account forget",
    "refresh": "get-token --force", "remove": "account forget", "renew": "get-token --force", "revoke": "logout",
  ]

  /// Our words for the command that `words` name, with the options that it takes; nil: no tool is known to call one so.
  static func ours(_ words: [String]) -> String? { commands[words.joined(separator: " ")] }
}
