/// Commands among which a person chooses, one for each name. The first can be pasted with what follows.
package enum NamedChoice {
  /// Names that are written out. Where there are more, it says so.
  package static let most = 4

  package static func text(_ names: [String], _ command: (String) -> String) -> String {
    let isWhole = names.count <= most
    let shown = names.prefix(isWhole ? most : most - 1).map(command)
    return (shown + (isWhole ? [] : ["another of them"])).joined(separator: "   # or: ")
  }
}
