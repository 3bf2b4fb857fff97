/// What `oauthctl curl` takes for itself, before the account's name. curl has no option of these names.
struct CurlOwnOptions: Sendable, Equatable {
  var anyHost = false
  var selection = TokenSelection()
  /// The last that took the next word for its value, and that word: a value that was forgotten may have swallowed another.
  var swallowing: Swallowing?

  struct Swallowing: Sendable, Equatable {
    var option: String
    var word: String
  }

  private static let anyHostName = "--any-host"
  /// Each takes a value, as the next word or behind `=`, and may be repeated.
  private static var valued: [(name: String, place: WritableKeyPath<TokenSelection, [String]>)] {
    [("--scope", \.scope), ("--resource", \.resource), ("--audience", \.audience)]
  }

  static var names: [String] { [anyHostName] + valued.map(\.name) }

  /// The one that `word` is; nil: it is none.
  static func name(in word: String) -> String? {
    let name = word.prefix { $0 != "=" }
    return names.first { $0 == name && ($0 != anyHostName || word == $0) }
  }

  /// An option that stands last, without its value.
  struct MissingValue: Error, Equatable { var option: String }

  /// Takes them from the front of `words`.
  init(takenFrom words: inout ArraySlice<String>) throws(MissingValue) {
    while let word = words.first, let name = Self.name(in: word) {
      words = words.dropFirst()
      guard let place = Self.valued.first(where: { $0.name == name })?.place else {
        anyHost = true
        continue
      }
      if word != name {
        selection[keyPath: place].append(String(word.dropFirst(name.count + 1)))
        swallowing = nil
      } else if let value = words.first {
        selection[keyPath: place].append(value)
        swallowing = Swallowing(option: name, word: value)
        words = words.dropFirst()
      } else {
        throw MissingValue(option: name)
      }
    }
  }

  init() {}

  /// As they are typed, with a blank behind them where there are some.
  var words: String { (anyHost ? Self.anyHostName + " " : "") + selection.words }
}
