import AgentWire

/// Just enough TOML 1.0 to write an account file: basic strings, arrays of them, tables of them.
enum TOMLText {
  /// A basic string: `"`, `\` and what is not printable is escaped, so that no value can end its line or its string.
  static func string(_ value: String) -> String {
    var text = "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case _ where PrintableText.isShownAsIs(scalar): text.unicodeScalars.append(scalar)
      default:
        let digits = String(scalar.value, radix: 16, uppercase: true)
        text +=
          scalar.value <= 0xFFFF
          ? "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
          : "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
      }
    }
    return text + "\""
  }

  static func array(_ values: [String]) -> String { "[" + values.map(string).joined(separator: ", ") + "]" }

  /// A value of an account's file; tables stand below all others and are written by themselves.
  static func value(_ value: ProviderDefault) -> String {
    switch value {
    case .text(let text): string(text)
    case .list(let list): array(list)
    case .flag(let flag): flag ? "true" : "false"
    case .number(let number): String(number)
    case .table(let members):
      "{ " + members.sorted { $0.key < $1.key }.map { "\(key($0.key)) = \(string($0.value))" }.joined(separator: ", ")
        + " }"
    }
  }

  /// A bare key where the grammar allows one, else a quoted key.
  static func key(_ name: String) -> String {
    let isBare =
      !name.isEmpty
      && name.utf8.allSatisfy {
        switch $0 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
      }
    return isBare ? name : string(name)
  }
}
