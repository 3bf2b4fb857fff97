/// Whom git believes at an address, by what its configuration says for that. Rules only; ``GitAuthority`` asks git.
struct GitTrust: Equatable {
  enum Fault: Equatable {
    /// git believes the authority of another login.
    case otherAuthority
    /// git believes the system's authorities, or not the login's own alone.
    case systemAuthorities
    case unchecked
  }

  /// `http.sslCAInfo` and `http.sslCAPath`, as they stand there.
  private(set) var file: String?
  private(set) var folder: String?
  /// `http.sslVerify`.
  private(set) var isChecked = true

  /// What `git config --null --get-urlmatch http ADDRESS` lists: the variables that count for an address, each once.
  init(in list: String) {
    for entry in list.split(separator: "\0") {
      let parts = entry.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
      let value = parts.count == 2 ? String(parts[1]) : nil
      switch parts[0] {
      case "http.sslcainfo": file = value
      case "http.sslcapath": folder = value
      case "http.sslverify": isChecked = Self.isTrue(value)
      default: break
      }
    }
  }

  /// Why git does not believe whom the login believes; nil: it does, or goes by a file of the user's own.
  ///
  /// `digest` is that of the login's private authority (nil: it is bound to none), and `isOwn` says whether that is for the
  /// server which gets the token. `copied` gives the digest of a copy of ours (nil in it: it cannot be read), and nil for a
  /// file of the user's own; `isNamed`, whether the user has named a folder for this very server.
  func fault(
    digest: String?, isOwn: Bool, copied: (_ file: String) -> String??, isNamed: (_ folder: String) -> Bool
  ) -> Fault? {
    let copy = file.flatMap(copied)
    guard digest != nil, isOwn else { return copy == nil ? nil : .otherAuthority }
    if let copy, copy != digest { return .otherAuthority }
    guard isChecked else { return .unchecked }
    guard let file, !file.isEmpty else { return .systemAuthorities }
    guard copy != nil else { return nil }
    // Without one git takes the system's.
    guard let folder, !folder.isEmpty else { return .systemAuthorities }
    return folder == GitSetup.noFolder || isNamed(folder) ? nil : .systemAuthorities
  }

  /// git takes many spellings for false, and these for true; without a value it is true.
  private static func isTrue(_ value: String?) -> Bool {
    guard let value = value?.lowercased() else { return true }
    return ["true", "yes", "on"].contains(value)
      || value.first.map { "1"..."9" ~= $0 } == true
        && value.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
  }
}
