import Foundation

/// The package under test as it stands on disk.
struct PackageFolder {
  enum Failure: Error {
    case noPackage(from: String)
    case manifest(status: Int32, message: String)
  }

  /// A target of the manifest; `type` is SwiftPM's word (regular, executable, system, test).
  struct Target: Equatable {
    var type: String
    var dependencies: Set<String>
  }

  struct SourceFile {
    /// Relative to Sources or Tests, `Target/Folder/File.swift`.
    var path: String
    var lines: [Substring]
    var target: String { String(path.prefix(while: { $0 != "/" })) }
  }

  let root: URL

  /// The package that holds this very source file; links are followed, so it is found from a reduced package too.
  init(file: String = #filePath) throws {
    var folder = URL(fileURLWithPath: file).resolvingSymlinksInPath()
    repeat {
      guard folder.path != "/" else { throw Failure.noPackage(from: file) }
      folder.deleteLastPathComponent()
    } while !FileManager.default.fileExists(atPath: folder.appendingPathComponent("Package.swift").path)
    root = folder
  }

  func text(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }

  /// Every text file in Sources.
  func sources() throws -> [SourceFile] { try files("Sources") }

  /// Every file in `folder` that ends so; they are text.
  func files(_ folder: String, ending: String = "") throws -> [SourceFile] {
    let folder = root.appendingPathComponent(folder)
    return try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted().compactMap { path in
      let file = folder.appendingPathComponent(path)
      guard path.hasSuffix(ending), try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else {
        return nil
      }
      let text = try String(contentsOf: file, encoding: .utf8)
      return SourceFile(path: path, lines: text.split(separator: "\n", omittingEmptySubsequences: false))
    }
  }

  /// The targets of `swift package dump-package`. It has a scratch folder of its own: `swift test` holds the lock of the
  /// package's. It runs on a thread of its own: a test must not block a thread of the cooperative pool.
  func targets() async throws -> [String: Target] {
    let root = root
    let output = try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result { try dumpPackage(root) }) }
    }
    let manifest = try JSONDecoder().decode(DumpedManifest.self, from: output)
    return Dictionary(
      uniqueKeysWithValues: manifest.targets.map { target in
        (target.name, Target(type: target.type, dependencies: Set(target.dependencies.map(\.name))))
      })
  }
}

private func dumpPackage(_ root: URL) throws -> Data {
  let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("house-\(UUID().uuidString)")
  defer { try? FileManager.default.removeItem(at: scratch) }
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  process.arguments = ["swift", "package", "--package-path", root.path, "--scratch-path", scratch.path, "dump-package"]
  let output = Pipe()
  let errors = Pipe()
  process.standardOutput = output
  process.standardError = errors
  process.standardInput = FileHandle.nullDevice
  try process.run()
  // Warnings are few and short: they fit in the pipe while the manifest is read to its end.
  let json = try output.fileHandleForReading.readToEnd() ?? Data()
  let message = try errors.fileHandleForReading.readToEnd() ?? Data()
  process.waitUntilExit()
  guard process.terminationStatus == 0 else {
    throw PackageFolder.Failure.manifest(
      status: process.terminationStatus, message: String(decoding: message, as: UTF8.self))
  }
  return json
}

private struct DumpedManifest: Decodable {
  struct Target: Decodable {
    var name: String
    var type: String
    var dependencies: [Dependency]
  }

  /// `{"byName": ["Sealing", null]}` or `{"product": ["NIOCore", "swift-nio", null, null]}`.
  struct Dependency: Decodable {
    var name: String

    init(from decoder: any Decoder) throws {
      let kinds = try decoder.singleValueContainer().decode([String: [FirstName]].self)
      guard let name = kinds.values.first?.first?.text else {
        throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "no dependency name"))
      }
      self.name = name
    }
  }

  /// An element of such a list: a string, or something that is of no interest here.
  struct FirstName: Decodable {
    var text: String?

    init(from decoder: any Decoder) throws {
      text = try? decoder.singleValueContainer().decode(String.self)
    }
  }

  var targets: [Target]
}
