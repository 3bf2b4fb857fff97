/// How much configuration is read. Beyond a limit a file, or the rest of the folder, is refused with a problem that says
/// so, and what was read of it before still holds.
package enum ConfigurationLimits {
  /// Largest file: 64 KiB. An account file has some hundred bytes.
  package static let fileBytes = 64 << 10
  /// All account files together: 32 MiB, which is 3 KiB for each of the most accounts.
  package static let folderBytes = 32 << 20
  /// Most accounts: so many are tried in the tests, and a person has some tens.
  package static let accounts = 10_000
  /// Most presets of one's own: several times those that come with the program.
  static let providers = 200
  /// Placeholders in one preset: one with six endpoints and two questions has a dozen. With the longest answers, 64 make
  /// 16 KiB of it, and not a thousand times its text.
  static let placeholders = 64
  /// Names in the folder that are looked at, whatever they are: ten times the accounts, since other files may be there.
  static let names = 100_000
  /// Largest certificate authority file: 4 MiB. The whole bundle of a system has about 200 KiB.
  static let certificateBytes = 4 << 20
  /// All certificate authority files of one reading: 64 MiB, since they are in memory together.
  static let certificatesBytes = 64 << 20

  /// Lines of a text before a parser sees it; an account needs about a hundred keys, and a table of strings.
  static let lines = 4_096
  /// Keys of a text: twice what an account can have, with two tables of 32 strings.
  static let keys = 256
  /// Parts of one key: the longest that means something, a parameter in a preset, has three.
  static let keyParts = 8
  /// Tables and arrays in each other: the deepest that is kept has four (`TOMLDocument`).
  static let nesting = 8
  /// Values of a text: lists of 256 scopes and of 64 hosts are a tenth of it.
  static let values = 4_096

  /// Problems of one file that are named: whoever corrects ten sees the others with the next reading.
  static let problemsPerFile = 10
  /// Problems of all files that are kept: 1,000 take some hundred KiB of memory. Past them, one of each file.
  static let problems = 1_000
}
