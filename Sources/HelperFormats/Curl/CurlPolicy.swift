import HTTPTerms

/// What `oauthctl curl` lets through. Refusals say why; they all end with status 125 before anything was asked or sent.
package struct CurlPolicy: Sendable {
  package let arguments: CurlArguments
  package let anyHost: Bool
  /// Standard output goes to a person, not to a program that reads it.
  package let outputIsTerminal: Bool

  package struct Refusal: Error, Equatable {
    package var why: String
    /// A command that helps.
    package var run: String?
    /// What helps, in words.
    package var advice: String?

    init(_ why: String, run: String? = nil, advice: String? = nil) {
      self.why = why
      self.run = run
      self.advice = advice
    }
  }

  package init(arguments: CurlArguments, anyHost: Bool, outputIsTerminal: Bool = false) {
    self.arguments = arguments
    self.anyHost = anyHost
    self.outputIsTerminal = outputIsTerminal
  }

  /// The URLs, checked.
  package func urls() throws(Refusal) -> [CurlURL] {
    for option in arguments.options { try check(option) }
    guard !arguments.urls.isEmpty else { throw Refusal("no URL in curl's arguments", run: "oauthctl curl --help") }
    let globbing = !arguments.isOn("globoff")
    var urls: [CurlURL] = []
    for text in arguments.urls { urls.append(try url(text, globbing)) }
    try checkTogether(urls)
    return urls
  }

  /// Whether nothing but this machine's own loopback may be spoken to, since what goes there is readable, or goes to
  /// whoever answers.
  package static func staysOnThisMachine(_ urls: [CurlURL], _ arguments: CurlArguments) -> Bool {
    urls.contains { $0.origin.scheme == .http } || arguments.isOn("insecure") && urls.allSatisfy(\.origin.isLoopback)
  }

  /// What is harmless alone.
  private func checkTogether(_ urls: [CurlURL]) throws(Refusal) {
    let moving = arguments.first(of: CurlOptionEffects.moveConnection)
    if Self.staysOnThisMachine(urls, arguments), let moving {
      throw Refusal(
        "--\(moving) could lead the token off this machine, where nothing checks who gets it",
        advice: "leave --\(moving) out")
    }
    guard Set(urls.map(\.origin.scheme)).count <= 1 else {
      throw Refusal(
        "the URLs of one call are all http or all https", advice: "call oauthctl curl once for http and once for https")
    }
    if anyHost { return }
    if arguments.sendsBody, arguments.values("header").contains(where: Self.keepsConnection) {
      throw Refusal(
        "nothing may follow a body on its connection, and a Connection header of your own asks for that",
        advice: "leave that header out")
    }
    if arguments.isOn("insecure"), !urls.allSatisfy(\.origin.isLoopback) {
      throw Refusal(
        "--insecure gives the token to whoever answers for the host",
        advice: "name the authority with --cacert FILE instead, or oauthctl curl --any-host NAME …")
    }
    // An address of this machine leads nowhere else, and hides nothing that does.
    if let trust = arguments.first(of: CurlOptionEffects.chooseTrust),
      let moving = arguments.first(of: CurlOptionEffects.moveConnection.subtracting(["interface"]))
    {
      throw Refusal(
        "--\(moving) and --\(trust) together give the token to whoever you name there",
        run: "oauthctl curl --any-host NAME …   # if you know who that is")
    }
  }

  private func url(_ text: String, _ globbing: Bool) throws(Refusal) -> CurlURL {
    do {
      return try CurlURL(text, globbing: globbing)
    } catch {
      switch error {
      case .scheme(let scheme): throw Refusal("\(scheme):// is not https, and a token goes over https only")
      case .plainText(let host):
        throw Refusal(
          "http://\(host) would carry the token readable; plain http is for this machine only",
          advice: "write https:// in the URL")
      case .userInfo:
        throw Refusal(
          "a user name or password in the URL and a token contradict each other",
          advice: "leave them out of the URL")
      case .host(let host):
        throw Refusal(
          "cannot tell for sure which host \"\(host)\" is, so it gets no token",
          advice: "write a plain host name (no patterns, no %, no blanks; IDN as xn--…)")
      }
    }
  }

  private func check(_ option: CurlArguments.Option) throws(Refusal) {
    let isExpanded = option.name.hasPrefix("expand-")
    let name = isExpanded ? String(option.name.dropFirst(7)) : option.name
    let isFreeText = CurlOptionEffects.freeText.contains(name)
    if !isFreeText, let value = option.value, value.unicodeScalars.contains(where: { $0.value < 0x20 && $0 != "\t" }) {
      throw Refusal("--\(name) holds a line end or another control character, which could hide a header")
    }
    if !isFreeText, let value = option.value, Self.hidesPunctuation(value) {
      throw Refusal("--\(name) holds an accent on a punctuation mark, which would hide that mark from this check")
    }
    switch name {
    // The last of these with what a .netrc holds.
    case "user", "oauth2-bearer", "aws-sigv4", "digest", "ntlm", "ntlm-wb", "negotiate", "anyauth":
      throw Refusal(
        "--\(name) gives other credentials than the account's", advice: "leave --\(name) out, or call curl itself")
    case "header": try check(header: option.value ?? "", isExpanded: isExpanded)
    case "location-trusted":
      throw Refusal(
        "--location-trusted would give the token to every host the server redirects to",
        advice: "use --location instead")
    case "next":
      throw Refusal("--next begins a request without the token", advice: "call oauthctl curl once for each request")
    case "proto", "proto-redir":
      guard Self.leavesOnlyHTTPS(option.value ?? "") else {
        throw Refusal(
          "--\(name) would allow more than https, and a token goes over https only",
          advice: "use --\(name) =https")
      }
    case "proto-default" where option.value != "https":
      throw Refusal("--\(name) may only say https here: a token goes over https only")
    case "libcurl":
      throw Refusal("--libcurl would write the token into a file")
    case "trace" where option.value != "%", "trace-ascii" where option.value != "%", "stderr" where showsToken:
      try check(shownBy: name, in: option.value)
    case _ where CurlOptionEffects.loadsCode(name, isExpanded ? nil : option.value):
      throw Refusal("--\(name) has a library loaded into the program that has the token", advice: "use a PEM file")
    // A server answers it with the request, credentials and all (RFC 9110 §9.3.8).
    case "request" where ["TRACE", "TRACK"].contains(option.value?.uppercased()):
      throw Refusal("--request \(option.value ?? "") has the server repeat the token in its answer")
    // Its target names a host (RFC 9110 §9.3.6).
    case "request" where option.value?.uppercased() == "CONNECT":
      throw Refusal("--request CONNECT asks for a way to another host")
    case "request" where !HTTPToken.isToken(option.value ?? ""):
      throw Refusal("--request is no method: it could name another host")
    case "request-target" where !CurlOptionEffects.isTarget(option.value ?? ""):
      throw Refusal("--request-target is no path: it could name another host")
    case "url" where isExpanded || option.value?.hasPrefix("@") == true:
      throw Refusal("--url must say its URL here, so that its host can be checked")
    case "tls13-ciphers" where CurlOptionEffects.leavesReadable(tls13Ciphers: option.value ?? ""):
      throw Refusal("--tls13-ciphers has a cipher that encrypts nothing", advice: "leave it out of the list")
    // The end of a body that curl makes longer than it has said would be the next request.
    case "crlf" where !anyHost:
      throw Refusal("--crlf makes a body longer than the length that curl says", advice: "convert the file beforehand")
    case "config" where !anyHost:
      throw Refusal(
        "--config may hide URLs and headers from this check",
        run: "oauthctl curl --any-host NAME …   # if you know what is in it")
    default:
      if isExpanded, !isFreeText, !anyHost {
        throw Refusal("--expand-\(name) hides from this check what it says", advice: "use --\(name)")
      }
    }
  }

  /// Standard error is where people expect what curl shows of a request. A file keeps the token, and standard output is
  /// what a script reads.
  private func check(shownBy name: String, in place: String?) throws(Refusal) {
    let advice = name == "stderr" ? "leave --stderr out" : "use --\(name) %, which is standard error"
    guard place == "-" else {
      throw Refusal("--\(name) would write the token that curl shows into a file", advice: advice)
    }
    if anyHost || outputIsTerminal { return }
    throw Refusal("--\(name) - would give the token that curl shows to whatever reads standard output", advice: advice)
  }

  private func check(header line: String, isExpanded: Bool) throws(Refusal) {
    if isExpanded || Self.isAuthorization(line) {
      throw Refusal(
        "your own Authorization header would be sent beside the account's", advice: "leave it out, or run curl itself")
    }
    if anyHost { return }
    if line.hasPrefix("@") {
      throw Refusal(
        "--header @FILE may hide an Authorization or Host header from this check",
        advice: "give each header by itself, or oauthctl curl --any-host NAME …")
    }
    let advice = "leave it out, or oauthctl curl --any-host NAME …"
    // As curl does: the first colon ends the name, and only without one a semicolon.
    let colon = line.firstIndex(of: ":")
    let written = colon.map { String(line[..<$0]) } ?? String(line.prefix { $0 != ";" })
    let name = Self.name(ofHeader: line)
    if CurlOptionEffects.isReserved(header: name, value: colon.map { line[line.index(after: $0)...].lowercased() }) {
      throw Refusal(
        name == "host" || name.isEmpty
          ? "a Host header of your own may lead to another host than the URL's, and the token with it"
          : "a header \(name) of your own may lead the token to another host behind the same address", advice: advice)
    }
    guard HTTPToken.isToken(written) else {
      throw Refusal("a header's name with a blank or a mark in it is read in different ways by servers", advice: advice)
    }
  }

  /// Whether a mark such as `:` or `@` is one character with a sign before or behind it: curl reads bytes.
  package static func hidesPunctuation(_ text: String) -> Bool {
    text.contains { character in
      guard character.utf8.count > 1, character != "\r\n" else { return false }
      return character.utf8.contains { byte in
        let isLetterOrDigit = (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
        return byte < 0x80 && !isLetterOrDigit
      }
    }
  }

  /// Whether a header line's field is Authorization.
  package static func isAuthorization(_ line: String) -> Bool { name(ofHeader: line) == "authorization" }

  private static func keepsConnection(_ line: String) -> Bool {
    name(ofHeader: line) == "connection" && line.lowercased().contains("keep-alive")
  }

  /// The field of a header line, in lower case: of `Name: value`, `Name:` (removes it) and `Name;` (sends it empty).
  private static func name(ofHeader line: String) -> String {
    let isEdge: (Character) -> Bool = { $0.isWhitespace || "\"'<>".contains($0) }
    let name = line.prefix { $0 != ":" && $0 != ";" }.drop(while: isEdge).reversed().drop(while: isEdge).reversed()
    return String(name).lowercased()
  }

  /// Whether a list of protocols allows none but https. curl begins each such list with all that it knows, whatever was
  /// said before: `-ftp` alone allows all the rest.
  package static func leavesOnlyHTTPS(_ list: String) -> Bool {
    var isOnlyHTTPS = false
    for entry in list.utf8.split(separator: UInt8(ascii: ",")) {
      switch String(decoding: entry, as: UTF8.self) {
      case "=https", "-all": isOnlyHTTPS = true
      case "https", "+https": break
      default:
        // Of several signs curl takes the last.
        let isName = entry.dropFirst().allSatisfy { isDigit($0) || isLetter($0) }
        guard entry.first == UInt8(ascii: "-"), isName else { return false }
      }
    }
    return isOnlyHTTPS
  }

  /// Why a request that got a 401 is not sent again; nil: it can be.
  package func obstacleToRetry(_ urls: [CurlURL]) -> String? {
    if urls.count > 1 || urls.contains(where: \.isGlob) { return "several URLs" }
    if arguments.isOn("parallel") { return "--parallel" }
    if arguments.has("continue-at") { return "--continue-at" }
    if arguments.isOn("no-clobber") || arguments.has("no-clobber", "skip-existing") { return "--no-clobber" }
    // The page of the 401 would be the newer file, or stay where nothing has changed since.
    if let condition, !arguments.outputFiles.isEmpty { return condition }
    if arguments.isOn("remote-header-name") { return "--remote-header-name" }
    if arguments.has("config") { return "--config" }
    let uploads = arguments.values("upload-file")
    if uploads.contains(".") { return "--upload-file ." }
    // Each of a list is a request of its own.
    if uploads.contains(where: { $0.utf8.contains { "{[".utf8.contains($0) } }) { return "several files" }
    return nil
  }

  /// What has the server send the page only where it has changed, or where it has not.
  private var condition: String? {
    if arguments.has("time-cond") { return "--time-cond" }
    if arguments.has("etag-compare") { return "--etag-compare" }
    let header = (arguments.values("header") + arguments.values("expand-header")).first { text in
      text.hasPrefix("@") || text.utf8.count >= 3 && text.utf8.prefix(3).map { $0 | 0x20 } == Array("if-".utf8)
    }
    return header.map { $0.hasPrefix("@") ? "the fields in a file" : String($0.prefix { $0 != ":" }) }
  }

  /// Whether curl writes the response body to standard output.
  package var writesBodyToOutput: Bool {
    !arguments.has("output", "remote-name", "remote-name-all", "out-null")
  }

  /// Whether curl's options make it show what it sends, the token too.
  package var showsToken: Bool { arguments.has("verbose", "trace", "trace-ascii") }
}
