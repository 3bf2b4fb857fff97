/// Names of accounts in a sentence: the first ones, and how many more there are.
enum NameList {
  /// More are no longer read in a line.
  private static let most = 8

  static func text(_ names: [String]) -> String {
    let left = names.count - most
    return names.prefix(most).joined(separator: ", ") + (left > 0 ? " and \(left) more" : "")
  }
}
