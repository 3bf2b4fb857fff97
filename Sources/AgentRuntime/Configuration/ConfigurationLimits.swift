/// How much configuration is read. Beyond a limit a file, or the rest of the folder, is refused with a problem that says
/// so, and what was read of it before still holds.
package enum ConfigurationLimits {
  /// Largest file: 64 KiB.
  package static let fileBytes = 64 << 10
  /// All account files together: 32 MiB.
  package static let folderBytes = 32 << 20
  /// Most accounts.
  package static let accounts = 10_000
  /// Names in the folder that are looked at, whatever they are.
  static let names = 100_000
  /// Largest certificate authority file: 4 MiB.
  static let certificateBytes = 4 << 20
  /// All certificate authority files of one reading: 64 MiB.
  static let certificatesBytes = 64 << 20

  // What a text may hold before a parser sees it; an account needs about a hundred keys, and a table of strings.
  static let lines = 4_096
  static let keys = 256
  static let keyParts = 8
  static let nesting = 8
  static let values = 4_096

  /// Problems that are told of one file.
  static let problemsPerFile = 10
  /// Problems that are kept of all files; past them, one of each file.
  static let problems = 1_000
}
