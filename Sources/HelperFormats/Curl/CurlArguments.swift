/// curl's command line, read just enough: the URLs, what would carry or leak credentials, and what stands in the way of
/// sending the request a second time.
package struct CurlArguments: Sendable, Equatable {
  package struct Option: Sendable, Equatable {
    /// The long name.
    package var name: String
    package var value: String?
  }

  /// As typed, without `-D` and its value when `dumpHeader` holds it.
  package var words: [String] = []
  package var options: [Option] = []
  /// Operands and the values of `--url`.
  package var urls: [String] = []
  /// Where in `words` the `--` stands that ends the options.
  private var endOfOptions: Int?
  /// File of the last `-D`, `-` for standard output.
  package var dumpHeader: String?

  package enum Refusal: Error, Equatable {
    case unknownOption(String)
    case missingValue(String)
  }

  package init(_ arguments: [String]) throws(Refusal) {
    var index = 0
    var optionsEnded = false
    func value(_ option: String) throws(Refusal) -> String {
      index += 1
      guard index < arguments.count else { throw .missingValue(option) }
      return arguments[index]
    }
    while index < arguments.count {
      let word = arguments[index]
      if optionsEnded || !word.hasPrefix("-") {
        urls.append(word)
        words.append(word)
      } else if word == "--" {
        optionsEnded = true
        endOfOptions = words.count
        words.append(word)
      } else if word.hasPrefix("--") {
        try readLong(String(word.dropFirst(2)), word, value)
      } else {
        try readShort(word, value)
      }
      index += 1
    }
  }

  private mutating func readLong(
    _ name: String, _ word: String, _ value: (String) throws(Refusal) -> String
  ) throws(Refusal) {
    // --expand-NAME (curl 8.3) takes what NAME takes.
    let plain = name.hasPrefix("expand-") ? String(name.dropFirst(7)) : name
    guard let shape = CurlOptionTable.shape(of: plain) else { throw .unknownOption(word) }
    add(plain, shape == .value ? try value(word) : nil, isExpanded: plain != name, as: [word])
  }

  private mutating func readShort(_ word: String, _ value: (String) throws(Refusal) -> String) throws(Refusal) {
    let letters = Array(word.dropFirst())
    guard !letters.isEmpty else { throw .unknownOption(word) }
    for (position, letter) in letters.enumerated() {
      guard let name = CurlOptionTable.short[letter], let shape = CurlOptionTable.shape(of: name) else {
        throw .unknownOption("-\(letter)")
      }
      if shape == .flag {
        add(name, nil, isExpanded: false, as: ["-\(letter)"])
        continue
      }
      let rest = String(letters[(position + 1)...])
      add(name, rest.isEmpty ? try value("-\(letter)") : rest, isExpanded: false, as: ["-\(letter)"])
      return
    }
  }

  private mutating func add(_ name: String, _ value: String?, isExpanded: Bool, as spelling: [String]) {
    options.append(Option(name: isExpanded ? "expand-" + name : name, value: value))
    if name == "dump-header", !isExpanded {
      dumpHeader = value
      return
    }
    if name == "url", let value { urls.append(value) }
    words += spelling
    if let value { words.append(value) }
  }

  package func has(_ names: String...) -> Bool {
    options.contains {
      names.contains($0.name) || names.contains($0.name.hasPrefix("expand-") ? String($0.name.dropFirst(7)) : $0.name)
    }
  }

  /// The first option of a set, by its long name; flags count where they are on.
  package func first(of names: Set<String>) -> String? {
    names.sorted().first { CurlOptionTable.shape(of: $0) == .flag ? isOn($0) : has($0) }
  }

  /// `words` with further options behind all others, where the last one counts.
  package func words(andLast more: [String]) -> [String] {
    var words = words
    words.insert(contentsOf: more, at: endOfOptions ?? words.count)
    return words
  }

  /// The state of a flag that has a `--no-` form; the last one counts.
  package func isOn(_ name: String) -> Bool {
    options.last { $0.name == name || $0.name == "no-" + name }?.name == name
  }

  package func values(_ name: String) -> [String] { options.filter { $0.name == name }.compactMap(\.value) }
}
