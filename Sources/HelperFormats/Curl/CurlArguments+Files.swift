/// Files that curl opens by name. A pipe among them gives its bytes once, and takes what two runs write one after the other.
extension CurlArguments {
  /// What curl reads: bodies, parts of the URL, headers, cookies, variables. `-` is standard input.
  private func inputs(besides: Set<String> = []) -> [String] {
    options.flatMap { option -> [String] in
      let value = option.value ?? ""
      let name = option.name.hasPrefix("expand-") ? String(option.name.dropFirst(7)) : option.name
      switch name {
      case _ where besides.contains(name): return []
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
      // Or a text of its own, or with a passphrase behind a colon.
      case "cacert", "cert", "crlfile", "key", "pinnedpubkey", "proxy-cacert", "proxy-cert", "proxy-crlfile",
        "proxy-key":
        return ([value] + (value.contains(":") ? [String(value.prefix { $0 != ":" })] : [])).filter { $0 != "-" }
      default: return []
      }
    }
  }

  /// Whether a request has a body, which may be longer or shorter than curl has said: a file may grow while it is sent, and is
  /// sent to its end by curl before 8.7; and of a body that curl waits for leave to send (`Expect`) nothing is sent where
  /// the answer comes first.
  package var sendsBody: Bool {
    has(
      "data", "data-ascii", "data-binary", "data-raw", "data-urlencode", "form", "form-string", "json", "upload-file")
  }

  /// Whether curl reads standard input, which then has to be kept for the second time.
  package var readsStandardInput: Bool { inputs().contains("-") }

  /// What else it reads, as paths. Some may be none, but a date or a cookie.
  package var filesRead: [String] { filesRead(besides: []) }

  /// The same without what the options of these names read.
  package func filesRead(besides names: Set<String>) -> [String] {
    inputs(besides: names).filter { $0 != "-" && !$0.isEmpty }
  }

  /// Where curl puts what the server sends, but for standard output.
  package var outputFiles: [String] {
    let folders = values("output-dir").map { $0 + "/" } + [""]
    let namedByURL = has("remote-name", "remote-name-all") ? urls.map(Self.lastSegment) : []
    return (values("output") + namedByURL).flatMap { name in folders.map { $0 + name } }
  }

  /// What curl writes beside standard output and standard error.
  package var filesWritten: [String] {
    outputFiles + ["cookie-jar", "etag-save", "trace", "trace-ascii", "stderr"].flatMap(values)
      + [dumpHeader].compactMap(\.self)
  }

  /// What `--remote-name` calls the file: what is behind the last slash, and of that what is behind a backslash.
  private static func lastSegment(of url: String) -> String {
    let path = url.prefix { !"?#".contains($0) }
    return String(path.split(omittingEmptySubsequences: false) { "/\\".contains($0) }.last ?? "")
  }

  /// `name=@FILE;type=…;headers=@FILE`, with several files behind commas, each with quotes or without, and with blanks around;
  /// `<FILE` gives a field's text.
  private static func files(ofForm value: String) -> [String] {
    guard let equals = value.firstIndex(of: "=") else { return [] }
    let content = value[value.index(after: equals)...]
    func name(_ text: Substring) -> String {
      let text = text.drop(while: \.isWhitespace)
      guard text.first != "\"" else { return String(text.dropFirst().prefix { $0 != "\"" }) }
      var name = text.prefix { $0 != ";" && $0 != "," }
      while name.last?.isWhitespace == true { name.removeLast() }
      return String(name)
    }
    let headers = content.split(separator: ";").compactMap { part -> String? in
      let part = part.drop(while: \.isWhitespace)
      let mark = "headers="
      guard part.lowercased().hasPrefix(mark) else { return nil }
      let place = part.dropFirst(mark.count).drop(while: \.isWhitespace)
      return place.first == "@" || place.first == "<" ? name(place.dropFirst()) : nil
    }
    guard let first = content.first, first == "@" || first == "<" else { return headers }
    return content.dropFirst().split(separator: ",").map(name) + headers
  }
}
