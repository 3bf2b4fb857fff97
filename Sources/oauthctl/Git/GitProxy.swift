import AgentWire
import HTTPTerms
import SystemFacts

/// Whether git may send what goes to a server of plain http on this machine elsewhere: through a proxy, which would read the
/// token, or to another address.
///
/// git chooses its proxy by the address that it began with, before redirects, with its user and scheme, and tells a
/// helper none of that. So whatever names a proxy for anything counts, unless the variables say that this host has none: libcurl goes
/// by that for every request.
enum GitProxy {
  /// - Returns: whether git was asked for its settings.
  /// - Throws: `CommandError.configuration` where git, which asks for a token of `account` at `url`, gets none.
  static func check(_ url: String, for account: String, _ environment: Environment) throws(CommandError) -> Bool {
    guard let host = plainHost(url) else { return false }
    let keys = keys(in: try GitSetting.list(query, for: account))
    if let key = keys.first(where: { $0.hasSuffix(".curloptresolve") }) {
      throw .configuration(
        "\(account): git would send the token to another address (\(key)) than that of \(url)",
        next: .run("git config --show-origin --get-all \(ShellWord.quoted(key))   # says where to take it out"))
    }
    guard let name = keys.first ?? variable(environment), !isExempt(host, environment) else { return true }
    let exempt = exemptions(environment)
    throw .configuration(
      "\(account): git may send the token to a proxy (\(name)), readable, on its way to \(url)",
      next: .run("export no_proxy=\(ShellWord.quoted(exempt.isEmpty ? host : "\(host),\(exempt)"))"))
  }

  /// git asks for a proxy's password in the same words as for a server's, and believes others there.
  ///
  /// - Throws: `CommandError.configuration` where a proxy of git's has the name and port of the server at `url`.
  static func checkIsNone(at url: String, for account: String, _ environment: Environment) throws(CommandError) {
    guard let server = try? Origin(of: url) else { return }
    let set = settings(in: try GitSetting.list(query, for: account)).first { origin(ofProxy: $0.value) == server }?.key
    let variable = variables.first { environment[$0].flatMap(origin) == server }
    guard let name = set ?? variable else { return }
    throw .configuration(
      "\(account): git's proxy (\(name)) has the name and port of \(url), and git believes others there than the login",
      next: .run(
        set == nil
          ? "unset \(name)"
          : "git config --show-origin --get-all \(ShellWord.quoted(name))   # says where to take it out"))
  }

  /// Without the user, whom git asks for a password.
  private static func origin(ofProxy value: String) -> Origin? {
    guard let mark = value.range(ofText: "://") else { return nil }
    let place = value[mark.upperBound...].prefix { $0 != "/" }
    return try? Origin(of: value[..<mark.upperBound].lowercased() + (place.split(separator: "@").last ?? ""))
  }

  private static let query = "^((http|remote)\\.(.*\\.)?proxy|http\\.(.*\\.)?curloptresolve)$"

  /// The host of a URL of plain http, without brackets.
  static func plainHost(_ url: String) -> String? {
    guard let origin = try? Origin(of: url), origin.scheme == .http else { return nil }
    return origin.host.hasPrefix("[") ? String(origin.host.dropFirst().dropLast()) : origin.host
  }

  /// Whether the variables say that this very host is reached without a proxy.
  static func isExempt(_ host: String, _ environment: Environment) -> Bool {
    let list = exemptions(environment)
    if list == "*" { return true }
    for entry in list.utf8.split(separator: UInt8(ascii: ",")) {
      // Some versions of libcurl end the list at a blank that no comma follows, others take it for a comma. It knows two.
      let words = entry.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
      if let first = words.first, String(decoding: first, as: UTF8.self).lowercased().utf8.elementsEqual(host.utf8) {
        return true
      }
      if words.count > 1 { return false }
    }
    return false
  }

  /// In git the small one wins, an empty one too.
  private static func exemptions(_ environment: Environment) -> String {
    environment.raw("no_proxy") ?? environment.raw("NO_PROXY") ?? ""
  }

  /// Those that have a value in what `git config --null --get-regexp` lists.
  static func keys(in list: String) -> [String] { settings(in: list).map(\.key) }

  private static func settings(in list: String) -> [(key: String, value: String)] {
    list.split(separator: "\0").compactMap { entry in
      let parts = entry.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[1].isEmpty else { return nil }
      return (String(parts[0]), String(parts[1]))
    }
  }

  private static let variables = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]

  /// A variable that names a proxy.
  static func variable(_ environment: Environment) -> String? { variables.first { environment[$0] != nil } }
}
