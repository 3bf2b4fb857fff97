/// The user's folders by the XDG Base Directory specification.
package enum BaseFolder: String, Sendable, CaseIterable {
  case configuration, data, state

  package var variable: String {
    switch self {
    case .configuration: "XDG_CONFIG_HOME"
    case .data: "XDG_DATA_HOME"
    case .state: "XDG_STATE_HOME"
    }
  }

  /// Below the home folder, where the variable is not set.
  package var fallback: String {
    switch self {
    case .configuration: "/.config"
    case .data: "/.local/share"
    case .state: "/.local/state"
    }
  }

  /// The first of the variables that say where the user's files are whose value is no UTF-8; nil: none is. The name that it
  /// seems to have would be another folder's.
  package static func unreadableVariable(in environment: [String: String]) -> String? {
    (["HOME", "XDG_RUNTIME_DIR"] + allCases.map(\.variable)).first {
      environment[$0]?.unicodeScalars.contains("\u{FFFD}") == true
    }
  }

  /// Why an agent keeps nothing where the variables say: somebody else could take it away, or put something else in its place, as
  /// after su(1), which may leave them at another user's folders; nil: nobody can. `home` as in ``path(value:home:)``.
  package static func refusal(
    in environment: [String: String], home: String?, fault: (_ folder: String) -> FolderTrust.WayFault?
  ) -> (reason: String, hint: String, isCommand: Bool)? {
    for folder in [data, state] {
      let value = environment[folder.variable]
      guard let path = folder.path(value: value, home: home), let fault = fault(path) else { continue }
      let name = absolute(value) == nil ? "HOME" : folder.variable
      let hint = "set \(name) to a folder of your own" + (name == "HOME" ? "" : ", or unset it")
      return ("\(name): \(fault.reason)", fault.remedy ?? hint, fault.remedy != nil)
    }
    return nil
  }

  /// Absolute and without a final slash. `value` is the variable's: a relative one is ignored, as the specification wants.
  /// Nil where neither it nor `home` says where.
  package func path(value: String?, home: String?) -> String? {
    Self.absolute(value) ?? Self.absolute(home).map { $0 + fallback }
  }

  private static func absolute(_ path: String?) -> String? {
    guard let path, PathWalk.isAbsolute(path) else { return nil }
    // Of bytes: the slash may make one character with the letter before it.
    let end = path.utf8.lastIndex { $0 != UInt8(ascii: "/") }
    return end.map { String(decoding: path.utf8[...$0], as: UTF8.self) } ?? ""
  }
}
