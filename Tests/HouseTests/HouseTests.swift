import Foundation
import Testing

@Suite("The module table, the manifest and the imports agree")
struct HouseTests {
  /// What every target may import without saying so.
  static let basics: Set<String> = ["Glibc"]
  /// What comes with the toolchain: named in the table, unknown to the manifest.
  static let toolchain: Set<String> = ["Dispatch", "FoundationEssentials", "Synchronization"]
  static let longestFileLines = 400

  let package: PackageFolder
  let table: ModuleTable

  init() throws {
    package = try PackageFolder()
    table = try ModuleTable(markdown: package.text("docs/modules.md"))
  }

  @Test("the table names the targets of the manifest, and their dependencies")
  func tableAndManifest() async throws {
    let targets = try await package.targets().filter { $0.value.type != "test" }
    #expect(Set(table.targets.keys) == Set(targets.keys))
    for (name, target) in targets {
      let declared = (table.targets[name]?.imports ?? []).subtracting(Self.toolchain)
      #expect(declared == target.dependencies, "\(name): the table has the first, Package.swift the second")
    }
  }

  @Test("every import line is allowed by the table")
  func importsAreAllowed() throws {
    for use in try importLines() {
      let row = try #require(table.targets[use.target], "Sources/\(use.target) is not in the table")
      var allowed = row.imports.union(Self.basics.subtracting(row.never))
      if let fewer = table.files[use.path] { allowed.formIntersection(fewer) }
      #expect(allowed.contains(use.module), "Sources/\(use.path):\(use.line) imports \(use.module)")
    }
  }

  @Test("everything the table lists is imported somewhere in its target")
  func importsAreUsed() throws {
    let used = Dictionary(grouping: try importLines(), by: \.target).mapValues { Set($0.map(\.module)) }
    for (name, row) in table.targets {
      #expect(row.imports.subtracting(used[name] ?? []).isEmpty, "\(name) does not import these")
    }
  }

  @Test("what the table forbids, and files with a rule of their own, exist")
  func rulesHaveAnObject() throws {
    let paths = try Set(package.sources().map(\.path))
    #expect(table.files.keys.filter { !paths.contains($0) } == [])
    for (name, row) in table.targets {
      #expect(row.never.isSubset(of: Self.basics), "\(name): only \(Self.basics.sorted()) can be taken away")
    }
  }

  @Test("every folder of Sources is a target")
  func foldersAreTargets() throws {
    #expect(try Set(package.sources().map(\.target)).subtracting(table.targets.keys) == [])
  }

  @Test("no source file is longer than 400 lines")
  func filesAreShort() throws {
    for file in try package.sources() {
      // The piece after the last newline is no line.
      #expect(file.lines.count - 1 <= Self.longestFileLines, "Sources/\(file.path)")
    }
  }

  /// Whoever looks for a type opens the file of its name. The messages of one group of methods stand together, and a file
  /// of functions alone may have any name.
  @Test("every source file bears the name of a type that it declares or extends")
  func filesBearTheirTypesName() throws {
    let declaration = /^(?:@\w+ )*(?:\w+ )*(?:struct|class|enum|actor|protocol|extension) ([\w.]+)/
    for file in try package.sources() where file.path.hasSuffix(".swift") && !file.path.contains("/Messages/") {
      let types = file.lines.filter { !$0.hasPrefix("private ") && !$0.hasPrefix("fileprivate ") }
        .compactMap { $0.prefixMatch(of: declaration)?.output.1.split(separator: ".").last }
      let name = file.path.split(separator: "/").last?.prefix { $0 != "." && $0 != "+" }
      #expect(types.isEmpty || types.contains { $0 == name }, "Sources/\(file.path): \(types.joined(separator: ", "))")
    }
  }

  /// What the agent stands on. A fake of it that only one test knows would promise what nothing else is held to.
  private static let seams = [
    "RecordStore", "LateAnswerStore", "VaultControl", "HTTPTransport", "ConfigurationSource", "TimeKeeper",
    "RedirectReceiver", "RedirectListening",
  ]

  @Test("what stands in for store, vault, files, clock, network and browser in tests stands in AgentTestSupport")
  func fakesStandTogether() throws {
    let declaration = /\b(?:struct|class|actor|extension)\s+\w+[^:]*:([^{]*)/
    var found: Set<String> = []
    for file in try package.files("Tests", ending: ".swift") {
      for line in file.lines {
        guard let conformances = line.firstMatch(of: declaration)?.1 else { continue }
        let names = conformances.split(whereSeparator: { !$0.isLetter })
        for seam in Self.seams where names.contains(where: { $0 == seam }) { found.insert("\(file.path): \(seam)") }
      }
    }
    #expect(found == [])
    for seam in Self.seams {
      #expect(try package.sources().contains { $0.lines.contains { $0.contains("protocol \(seam)") } }, "\(seam)")
    }
  }

  /// Next steps are shown behind `run: `, to be pasted: what is no part of the command stands in a comment.
  @Test("every next step that begins with a command is one that a shell takes")
  func stepsCanBePasted() throws {
    var count = 0
    for file in try package.sources() where file.path.hasSuffix(".swift") {
      for (index, line) in file.lines.enumerated() where !line.contains("//") {
        for step in CommandLiteral.all(in: String(line)) {
          count += 1
          #expect(!step.hasProse, "Sources/\(file.path):\(index + 1): \(step.command)")
        }
      }
    }
    #expect(count > 100, "it looks in the right places")
  }

  /// A text alone is advice, so a command without `.run` would be shown without its `run: `.
  @Test("a next step that begins with a command is called a command")
  func commandsAreCalledCommands() throws {
    for file in try package.sources() where file.path.hasSuffix(".swift") {
      let text = file.lines.joined(separator: "\n")
      for step in text.matches(of: /(?:hint|next|otherwise):\s+"([^"]*)/)
      where CommandLiteral.isCommand(String(step.output.1)) {
        Issue.record("Sources/\(file.path): .run(\"\(step.output.1)\")")
      }
    }
  }

  private struct ImportUse {
    var target: String
    var path: String
    var line: Int
    var module: String
  }

  private func importLines() throws -> [ImportUse] {
    try package.sources().filter { $0.path.hasSuffix(".swift") }.flatMap { file in
      file.lines.enumerated().compactMap { index, line in
        importedModule(line).map { ImportUse(target: file.target, path: file.path, line: index + 1, module: $0) }
      }
    }
  }
}
