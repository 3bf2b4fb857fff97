/// Whom git believes at a server, by what its configuration says. Rules only; ``GitAuthority`` asks git.
///
/// git goes by the address that it began with: with its user, with its path as it stands there, before redirects. The
/// helper is told another one, so every setting of the server counts here, for whichever user and path it is.
enum GitTrust {
  /// One of `http.sslCAInfo`, `sslCAPath` and `sslVerify`, for all servers or for an address.
  struct Setting: Equatable {
    /// As git prints it: the variable in small letters.
    let key: String
    let variable: String
    /// Nil: for all servers.
    let place: Place?
    /// Nil: it stands there without one, which means true.
    let value: String?
  }

  /// What an address names beside its scheme.
  struct Place: Equatable {
    /// In small letters, without the port that is usual; `*` in it stands for one label.
    let host: String
    let hasUser: Bool
    /// Empty, or with a slash before it and none behind.
    let path: String

    /// Nil: it is none of https.
    init?(_ url: String) {
      guard url.lowercased().hasPrefix("https://") else { return nil }
      let rest = url.dropFirst("https://".count)
      let authority = rest.prefix { $0 != "/" }
      let name = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
      hasUser = name.count < authority.count
      host = (name.hasSuffix(":443") ? name.dropLast(4) : name).lowercased()
      let path = rest[authority.endIndex...]
      self.path = String(path.hasSuffix("/") ? path.dropLast() : path)
    }
  }

  enum Fault: Equatable {
    /// The setting names the authority of another login.
    case otherAuthority(key: String)
    /// Nothing names the login's own, or not it alone.
    case systemAuthorities
    case unchecked(key: String)
  }

  static let query = "^http\\.(.*\\.)?ssl(cainfo|capath|verify)$"

  /// What `git config --null --get-regexp` lists for the ``query``.
  static func settings(in list: String) -> [Setting] {
    list.split(separator: "\0").compactMap { entry in
      let parts = entry.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard let dot = parts[0].lastIndex(of: "."), parts[0].hasPrefix("http.") else { return nil }
      let url = parts[0][..<dot].dropFirst("http.".count)
      let place = Place(String(url))
      guard url.isEmpty || place != nil else { return nil }
      return Setting(
        key: parts[0], variable: String(parts[0][parts[0].index(after: dot)...]), place: place,
        value: parts.count == 2 ? parts[1] : nil)
    }
  }

  /// Why git, which asks for a token at `url`, does not believe whom the login believes; nil: it does, or goes by a file of the
  /// user's own.
  ///
  /// `digest` is that of the login's private authority (nil: it is bound to none), and `isOwn` says whether that is for this
  /// server. `copied` gives the digest of a copy of ours (nil in it: it cannot be read), and nil for a file of the user's own.
  static func fault(
    _ settings: [Setting], at url: String, digest: String?, isOwn: Bool, copied: (_ file: String) -> String??
  ) -> Fault? {
    guard let asked = Place(url) else { return nil }
    let here = settings.filter { $0.place?.mayBe(asked.host) ?? true }
    for setting in here where setting.variable == "sslcainfo" {
      if let found = copied(setting.value ?? ""), found != digest { return .otherAuthority(key: setting.key) }
    }
    guard digest != nil, isOwn else { return nil }
    if let setting = here.first(where: { $0.variable == "sslverify" && !isTrue($0.value) }) {
      return .unchecked(key: setting.key)
    }
    let certain = here.filter { $0.place.map { $0.isSurely(asked.host) } ?? true }
    let files = certain.filter { $0.variable == "sslcainfo" && $0.value?.isEmpty == false }
    let hasFolder = certain.contains { $0.variable == "sslcapath" && $0.value?.isEmpty == false }
    let hasCopy = files.contains { copied($0.value ?? "") != nil }
    return files.isEmpty || hasCopy && !hasFolder ? .systemAuthorities : nil
  }

  /// git takes many spellings for false, and these for true.
  private static func isTrue(_ value: String?) -> Bool {
    value.map { ["true", "yes", "on", "1"].contains($0.lowercased()) } ?? true
  }
}

extension GitTrust.Place {
  /// Whether it may name a server: in git a star stands for one label.
  fileprivate func mayBe(_ host: String) -> Bool {
    if self.host.contains("%") { return true }
    let (pattern, labels) = (self.host.split(separator: "."), host.split(separator: "."))
    return pattern.count == labels.count && zip(pattern, labels).allSatisfy { $0 == $1 || $0.hasPrefix("*") }
  }

  /// Whether it counts for a server, however the address is spelled.
  fileprivate func isSurely(_ host: String) -> Bool { self.host == host && !hasUser && path.isEmpty }
}
