import AgentWire
import SystemFacts

/// What git's configuration says of helpers, as `git config --null --get-regexp` lists it.
enum GitConfiguration {
  struct Helper: Sendable, Equatable {
    /// The URL of `credential.URL.helper`; empty for `credential.helper`.
    var url: String
    /// Empty: the helpers before are switched off.
    var command: String
  }

  static let query = ["--null", "--get-regexp", "^credential(\\..*)?\\.helper$"]

  static let authorityQuery = ["--null", "--get-regexp", "^http\\..*\\.sslcainfo$"]

  /// In git's own order.
  static func helpers(in list: String) -> [Helper] {
    list.split(separator: "\0").compactMap { entry in
      let parts = entry.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard parts[0].hasPrefix("credential."), parts[0].hasSuffix("helper") else { return nil }
      let url = parts[0].dropFirst("credential.".count).dropLast("helper".count)
      return Helper(url: String(url.hasSuffix(".") ? url.dropLast() : url), command: parts.count == 2 ? parts[1] : "")
    }
  }

  /// Whether `key` stands behind our helper of `helperKey`: what stands before it was there before us.
  static func standsBehindOurs(_ key: String, _ helperKey: String, in list: String) -> Bool {
    let entries = entries(list)
    guard let ours = entries.firstIndex(where: { $0.key == helperKey && GitSetup.isOurs($0.value) }) else {
      return false
    }
    return entries[ours...].contains { $0.key == listed(key) }
  }

  /// `key` as git lists it: the name of the variable in small letters, the URL as it stands.
  private static func listed(_ key: String) -> String {
    guard let dot = key.lastIndex(of: ".") else { return key }
    return key[..<dot] + key[dot...].lowercased()
  }

  /// Whether another helper that git asks for the same URL stands behind the first value of `url`'s: git asks them in the
  /// order of the file, and what is written anew stands behind all.
  static func standsBeforeOthers(_ url: String, in list: String) -> Bool {
    let urls = helpers(in: list).map(\.url)
    guard let first = urls.firstIndex(of: url) else { return false }
    return urls[first...].contains { other in
      other.isEmpty || other != url && (other.hasPrefix(url + "/") || url.hasPrefix(other + "/"))
    }
  }

  private static func entries(_ list: String) -> [(key: String, value: String)] {
    list.split(separator: "\0").map { entry in
      let parts = entry.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      return (parts[0], parts.count == 2 ? parts[1] : "")
    }
  }

  /// URL, and where it stands, of each helper that is ours: from what git lists with `--show-origin`.
  static func origins(ofOursIn list: String) -> [(url: String, origin: String)] {
    let fields = list.split(separator: "\0", omittingEmptySubsequences: false)
    return zip(fields, fields.dropFirst()).enumerated().compactMap { index, pair in
      guard index.isMultiple(of: 2), let helper = helpers(in: String(pair.1)).first, GitSetup.isOurs(helper.command)
      else { return nil }
      return (helper.url, String(pair.0))
    }
  }

  /// URL and file of each `http.URL.sslCAInfo`, in git's own order.
  static func authorities(in list: String) -> [(url: String, file: String)] {
    list.split(separator: "\0").compactMap { entry in
      let parts = entry.split(separator: "\n", maxSplits: 1).map(String.init)
      guard parts.count == 2, parts[0].hasPrefix("http.") else { return nil }
      // `http.sslCAInfo` itself is of no URL.
      let key = parts[0].dropFirst("http.".count)
      guard key.hasSuffix(".sslcainfo") else { return nil }
      return (url: String(key.dropLast(".sslcainfo".count)), file: parts[1])
    }
  }

  /// Whether `setup git` has named the server `origin` (`https://host:port`), with or without a path: ours, with the ones
  /// before switched off.
  static func isSetUp(_ origin: String, in helpers: [Helper]) -> Bool {
    let own = helpers.filter { helper in
      let url = helper.url.lowercased()
      return url == origin || url.hasPrefix(origin + "/")
    }
    return own.contains { GitSetup.isOurs($0.command) } && own.contains { $0.command.isEmpty }
  }

  /// URLs for which git asks us though no account's host is meant, without the account's own deeper paths; sorted.
  static func unserved(by accounts: [AccountSummary], in helpers: [Helper]) -> [String] {
    var served = Set(accounts.flatMap(\.hosts).map { GitSetup.url(host: $0) })
    // What `setup git` adds for a host with a port.
    for url in served { GitSetup.portlessURL(host: url).map { _ = served.insert($0) } }
    let ours = helpers.filter { GitSetup.isOurs($0.command) && !$0.url.isEmpty }.map(\.url)
    return Set(ours.filter { url in !served.contains { url == $0 || url.hasPrefix($0 + "/") } }).sorted()
  }

  /// What takes ours out for `urls`, all of which are ours.
  static func removal(of urls: [String], in helpers: [Helper]) -> NextStep {
    let isAll = helpers.allSatisfy { !GitSetup.isOurs($0.command) || urls.contains($0.url) }
    return .run("oauthctl setup git --remove" + (isAll ? "" : urls.map { " --host \(ShellWord.quoted($0))" }.joined()))
  }

  /// Asks git. False where it does not answer.
  static func isSetUp(_ origin: String) -> Bool {
    guard let listed = try? Program.output(of: ["git", "config"] + query), listed.status == 0 else { return false }
    return isSetUp(origin, in: helpers(in: listed.text))
  }
}
