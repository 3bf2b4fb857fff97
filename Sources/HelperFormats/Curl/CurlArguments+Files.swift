/// Files that curl opens by name. A pipe among them gives its bytes once, and takes what two runs write one after the other.
extension CurlArguments {
  /// What curl reads: bodies, parts of the URL, headers, cookies, variables. `-` is standard input.
  private var inputs: [String] {
    options.flatMap { option -> [String] in
      let value = option.value ?? ""
      let name = option.name.hasPrefix("expand-") ? String(option.name.dropFirst(7)) : option.name
      switch name {
      case "data", "data-ascii", "data-binary", "json", "header", "proxy-header", "write-out":
        return value.utf8.first == UInt8(ascii: "@") ? [String(value.dropFirst())] : []
      case "data-urlencode", "url-query", "variable":
        // A name, then the file; an equals sign before it begins a text.
        guard let at = value.firstIndex(of: "@"), !value[..<at].contains("=") else { return [] }
        return [String(value[value.index(after: at)...])]
      // A list in braces, each for one URL.
      case "upload-file":
        return [value] + value.split { "{},".contains($0) }.map(String.init)
      // Or a date, or the cookies themselves.
      case "cookie", "config", "netrc-file", "etag-compare", "time-cond":
        return [value.utf8.first == UInt8(ascii: "-") && value != "-" ? String(value.dropFirst()) : value]
      case "form": return Self.files(ofForm: value)
      default: return []
      }
    }
  }

  /// Whether curl reads standard input, which then has to be kept for the second time.
  package var readsStandardInput: Bool { inputs.contains("-") }

  /// What else it reads, as paths. Some may be none, but a date or a cookie.
  package var filesRead: [String] { inputs.filter { $0 != "-" && !$0.isEmpty } }

  /// What curl writes beside standard output and standard error.
  package var filesWritten: [String] {
    let folders = values("output-dir").map { $0 + "/" } + [""]
    let outputs = values("output").flatMap { name in folders.map { $0 + name } }
    return outputs + ["cookie-jar", "etag-save", "trace", "trace-ascii", "stderr"].flatMap(values)
      + [dumpHeader].compactMap(\.self)
  }

  /// `name=@FILE;type=…`, with several files behind commas, each with quotes or without; `<FILE` gives a field's text.
  private static func files(ofForm value: String) -> [String] {
    guard let equals = value.firstIndex(of: "="), case let content = value[value.index(after: equals)...],
      let first = content.first, first == "@" || first == "<"
    else { return [] }
    return content.dropFirst().split(separator: ",").map { part in
      let name = part.first == "\"" ? part.dropFirst().prefix { $0 != "\"" } : part.prefix { $0 != ";" }
      return String(name)
    }
  }
}
