/// Options that are written `key=value`.
extension LoginOptions {
  /// Each name once.
  static func pairs(
    _ flag: String, _ texts: [String]
  ) throws(CommandError) -> [(name: String, value: String)] {
    let pairs = try texts.typedMap { (text) throws(CommandError) in try pair(flag, text) }
    let names = pairs.map(\.name)
    if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
      throw .usage("\(flag) \(twice) is given twice")
    }
    return pairs
  }

  static func pair(_ flag: String, _ text: String) throws(CommandError) -> (name: String, value: String) {
    guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
      throw .usage("\(flag) \(text): it is written key=value")
    }
    return (String(text[..<equals]), String(text[text.index(after: equals)...]))
  }
}

extension Array {
  /// `map` that keeps the error's type.
  func typedMap<T, E: Error>(_ transform: (Element) throws(E) -> T) throws(E) -> [T] {
    var result: [T] = []
    for element in self { result.append(try transform(element)) }
    return result
  }
}
