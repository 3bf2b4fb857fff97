import SystemFacts

/// The desktop entry by which addresses of one scheme come to oauthctl (Desktop Entry Specification, RFC 8252 §7.1).
struct SchemeHandler: Equatable {
  /// As ``PrivateUseScheme`` has it, so that it can be a part of a file's name and of a line.
  let scheme: String

  /// The file's name.
  var entry: String { "oauthctl-\(scheme).desktop" }

  /// What desktops call addresses of the scheme.
  var type: String { "x-scheme-handler/\(scheme)" }

  /// The path of that file; nil: there is no home folder.
  func path(in environment: Environment) -> String? {
    BaseFolder.data.path(value: environment[BaseFolder.data.variable], home: environment.home).map {
      "\($0)/applications/\(entry)"
    }
  }

  /// Whether `setup scheme` was run.
  func isSetUp(in environment: Environment) -> Bool {
    path(in: environment).map { SettingsFile(path: $0).exists } ?? false
  }

  /// Nil where `executable` has a character that the specification wants escaped: none of ours has.
  func text(executable: String) -> String? {
    guard
      executable.unicodeScalars.allSatisfy({
        $0.value >= 0x20 && $0.value != 0x7F && !"\"`$\\%".unicodeScalars.contains($0)
      })
    else { return nil }
    return """
      [Desktop Entry]
      Type=Application
      Name=oauthctl
      Comment=Brings the browser's answer to the login that waits for it
      Exec="\(executable)" redirect %u
      MimeType=\(type);
      NoDisplay=true
      Terminal=false

      """
  }
}
