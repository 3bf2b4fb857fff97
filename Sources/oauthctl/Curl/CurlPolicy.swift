/// What `oauthctl curl` lets through. Refusals say why; they all end with status 125 before anything was asked or sent.
struct CurlPolicy: Sendable {
  let arguments: CurlArguments
  let anyHost: Bool

  struct Refusal: Error, Equatable {
    var why: String
    var run: String?

    init(_ why: String, run: String? = nil) {
      self.why = why
      self.run = run
    }
  }

  /// The URLs, checked.
  func urls() throws(Refusal) -> [CurlURL] {
    try refuseOptions()
    guard !arguments.urls.isEmpty else { throw Refusal("no URL in curl's arguments", run: "oauthctl curl --help") }
    let globbing = !arguments.isOn("globoff")
    var urls: [CurlURL] = []
    for text in arguments.urls { urls.append(try url(text, globbing)) }
    if urls.contains(where: { $0.scheme == "http" }),
      arguments.has(
        "proxy", "preproxy", "proxy1.0", "socks4", "socks4a", "socks5", "socks5-hostname", "resolve", "connect-to")
    {
      throw Refusal(
        "plain http carries the token readable, so it goes to this machine only: no proxy, --resolve or --connect-to")
    }
    return urls
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
          run: "the same with https://")
      case .userInfo:
        throw Refusal(
          "a user name or password in the URL and a token contradict each other", run: "the same without it")
      case .host(let host):
        throw Refusal(
          "cannot tell for sure which host \"\(host)\" is, so it gets no token",
          run: "the same with a plain host name (no patterns, no %, no blanks; IDN as xn--…)")
      }
    }
  }

  private func refuseOptions() throws(Refusal) {
    for option in arguments.options {
      let isExpanded = option.name.hasPrefix("expand-")
      let name = isExpanded ? String(option.name.dropFirst(7)) : option.name
      switch name {
      case "user", "oauth2-bearer", "aws-sigv4":
        throw Refusal(
          "--\(name) gives other credentials than the account's", run: "curl itself, or leave --\(name) out")
      case "header" where isExpanded || Self.isAuthorization(option.value):
        throw Refusal(
          "your own Authorization header would be sent beside the account's", run: "curl itself, or leave it out")
      case "location-trusted":
        throw Refusal(
          "--location-trusted would give the token to every host the server redirects to",
          run: "the same with --location")
      case "next":
        throw Refusal("--next begins a request without the token", run: "oauthctl curl once for each")
      case "proto", "proto-redir", "proto-default":
        guard let value = option.value, Self.onlyHTTPS(value) else {
          throw Refusal("--\(name) may only say https here: a token goes over https only")
        }
      case "config" where !anyHost:
        throw Refusal(
          "--config may hide URLs and headers from this check",
          run: "oauthctl curl --any-host NAME …, if you know what is in it")
      case "libcurl":
        throw Refusal("--libcurl would write the token into a file")
      case "url" where isExpanded || option.value?.hasPrefix("@") == true:
        throw Refusal("--url must say its URL here, so that its host can be checked")
      default: break
      }
    }
  }

  /// A header line whose field is Authorization: `Name: value`, `Name:` (removes it), `Name;` (sends it empty).
  static func isAuthorization(_ line: String?) -> Bool {
    guard let line else { return false }
    let name = line.prefix { $0 != ":" && $0 != ";" }
    return String(name).trimmed.lowercased() == "authorization"
  }

  private static func onlyHTTPS(_ value: String) -> Bool {
    value.split(separator: ",").allSatisfy { $0.hasPrefix("-") || ["https", "=https", "+https"].contains($0) }
  }

  /// Why a request that got a 401 is not sent again; nil: it can be.
  func obstacleToRetry(_ urls: [CurlURL]) -> String? {
    if urls.count > 1 || urls.contains(where: \.isGlob) { return "several URLs" }
    if arguments.isOn("parallel") { return "--parallel" }
    if arguments.has("continue-at") { return "--continue-at" }
    if arguments.isOn("no-clobber") || arguments.has("no-clobber", "skip-existing") { return "--no-clobber" }
    if arguments.isOn("remote-header-name") { return "--remote-header-name" }
    if arguments.has("config") { return "--config" }
    if arguments.values("upload-file").contains(".") { return "--upload-file ." }
    return nil
  }

  /// Whether curl reads standard input, which then has to be kept for the second time.
  var readsInput: Bool {
    arguments.options.contains { option in
      guard let value = option.value else { return false }
      switch option.name {
      case "data", "data-ascii", "data-binary", "json", "header", "proxy-header", "url-query", "config":
        return value == "@-" || option.name == "config" && value == "-"
      case "data-urlencode": return value == "@-" || value.hasSuffix("@-") && !value.contains("=")
      case "upload-file": return value == "-"
      case "form": return value.contains("=@-") || value.contains("=<-") || value.contains(",-")
      case "cookie", "variable": return value == "-" || value.hasSuffix("@-")
      default: return false
      }
    }
  }

  /// Whether curl writes the response body to standard output.
  var writesBodyToOutput: Bool {
    !arguments.has("output", "remote-name", "remote-name-all", "out-null")
  }

  /// Whether curl is told to show what it sends, the token too.
  var showsToken: Bool { arguments.has("verbose", "trace", "trace-ascii") }
}
