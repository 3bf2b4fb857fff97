import AgentCore
import AgentWire

/// What one reading of the account files has found so far, within the limits for all of them.
struct FolderReading {
  private(set) var configuration: Configuration
  private let folder: String
  private var bytes = 0

  init(settingsProblems: [ConfigurationProblem], folders: AccountFolders) {
    configuration = Configuration(definitions: [], problems: settingsProblems, folders: folders)
    folder = folders.read
  }

  /// Whether a file of any size may be read yet.
  var hasRoom: Bool { bytes + ConfigurationLimits.fileBytes <= ConfigurationLimits.folderBytes }

  mutating func add(_ problem: ConfigurationProblem) { configuration.problems.append(problem) }

  /// The folder holds too much. A problem of the folder keeps every account that is not read as it was.
  mutating func add(excess what: String) {
    add(
      ConfigurationProblem(file: folder, line: nil, key: nil, reason: "it holds \(what); the rest is not read"))
  }

  /// Of accounts that share a host one is the default at most: which of two is meant nobody can tell. One that names
  /// `paths` is in nobody's way who names none.
  mutating func compareDefaults(line: (AccountDefinition) -> Int?) {
    var first: [String: AccountDefinition] = [:]
    var told: Set<String> = []
    for one in configuration.definitions where one.isDefault {
      for origin in one.origins {
        let place = "\(one.paths.isEmpty) \(origin)"
        guard let other = first[place] else {
          first[place] = one
          continue
        }
        for (definition, rival) in [(one, other), (other, one)]
        where configuration.problems.count < ConfigurationLimits.problems && told.insert(definition.name).inserted {
          add(
            ConfigurationProblem(
              file: definition.file, line: line(definition), key: "default",
              reason: "\(rival.name) is the default for \(origin) as well; take it out of one of the two"))
        }
      }
    }
  }

  /// An account that lends its token borrows none itself: so nobody waits in a circle.
  mutating func compareLenders(line: (String, AccountDefinition) -> Int?) {
    let borrowing = Set(configuration.definitions.lazy.filter { $0.lent != nil }.map(\.name))
    guard !borrowing.isEmpty else { return }
    for one in configuration.definitions {
      for (key, lent) in [("subject_account", one.lent?.subject), ("actor_account", one.lent?.actor)] {
        guard let lent, borrowing.contains(lent.account), configuration.problems.count < ConfigurationLimits.problems
        else { continue }
        add(
          ConfigurationProblem(
            file: one.file, line: line(key, one), key: key,
            reason: "\(lent.account) gets its own tokens by those of another account; name one that logs in by itself"))
      }
    }
  }

  /// What became of one file of so many bytes. Each file with problems keeps one at least: it is what tells that its last
  /// good definition holds.
  mutating func add(_ result: Result<AccountDefinition, ConfigurationProblems>, bytes: Int) {
    self.bytes += bytes
    switch result {
    case .success(let definition): configuration.definitions.append(definition)
    case .failure(let failure):
      let room = ConfigurationLimits.problems - configuration.problems.count
      configuration.problems += failure.problems.prefix(max(1, room))
    }
  }
}
