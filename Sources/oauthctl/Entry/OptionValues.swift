import AgentWire

/// Values that narrow what a token or a login is for. Without them all is meant, so one that says nothing, as an unset
/// variable of a script does, is refused.
enum OptionValues {
  /// - Throws: `CommandError.usage` where one of `values` has nothing but blanks.
  static func check(_ flag: String, _ values: [String]) throws(CommandError) {
    guard values.allSatisfy({ !NewAccount.scopes([$0]).isEmpty }) else {
      throw .usage("\(flag) has an empty value", next: .advice("leave \(flag) out, or name what it should be"))
    }
  }
}
