package import AgentWire

/// What is wrong with the configuration files: found by account, and cut for an answer.
package struct FileProblems: Sendable, Equatable {
  package let all: [ConfigurationProblem]
  /// The same without those that tell a fault of another file for one more account.
  package let told: [ConfigurationProblem]
  /// Places in `all` by the names of files, without their folders.
  private let places: [Substring: [Int]]
  private let files: Set<String>
  /// Why a folder was not read whole: a file that is not known may be there.
  package let folder: ConfigurationProblem?
  /// Whether a file or a folder could not be read at all, or a private authority. It may be there again without a word to the
  /// agent, and who puts a mode right asks in the same breath.
  let mayBeMended: Bool

  /// Problems that one answer lists: more than a person reads, and with a page of accounts beside them they fit a line.
  static let listed = 100
  /// Bytes of their texts, at most: the same holds however long the paths are.
  static let listedBytes = 128 << 10

  package init(_ problems: [ConfigurationProblem] = []) {
    all = problems
    var places: [Substring: [Int]] = [:]
    for (place, problem) in problems.enumerated() {
      places[Self.name(problem.concernedFile), default: []].append(place)
    }
    self.places = places
    var shared: Set<String> = []
    told = problems.filter { $0.hinderedFile == nil || shared.insert($0.sentence).inserted }
    files = Set(problems.map(\.concernedFile))
    mayBeMended = problems.contains { $0.key == "ca_file" || $0.key == nil && $0.line == nil }
    folder = problems.first { !$0.file.hasSuffix(".toml") }
  }

  /// The problems of the file of `account`.
  package func about(_ account: String) -> [ConfigurationProblem] {
    places["\(account).toml"[...]]?.map { all[$0] } ?? []
  }

  package func first(about account: String) -> ConfigurationProblem? {
    places["\(account).toml"[...]]?.first.map { all[$0] }
  }

  /// Why the file of `account`, of which nothing was read, is not known.
  package func hindrance(of account: String) -> ConfigurationProblem? { first(about: account) ?? folder }

  /// Whether `file`, or a folder that it lies in, has a problem, so that it was not read.
  package func concern(_ file: String) -> Bool {
    guard !files.isEmpty else { return false }
    var path = file[...]
    while !files.contains(String(path)) {
      guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return false }
      path = path[..<slash]
    }
    return true
  }

  /// The first ones, and how many more there are; nil: none.
  package var cut: (problems: [ConfigurationProblem], leftOut: Int?) {
    var bytes = 0
    let first = told.prefix(Self.listed).prefix { problem in
      bytes += problem.file.utf8.count + (problem.key?.utf8.count ?? 0) + problem.reason.utf8.count
      return bytes <= Self.listedBytes
    }
    return (Array(first), first.count < told.count ? told.count - first.count : nil)
  }

  private static func name(_ path: String) -> Substring {
    path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[path.utf8.index(after: $0)...] } ?? path[...]
  }
}
