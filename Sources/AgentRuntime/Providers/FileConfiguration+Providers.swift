import AgentCore
package import AgentWire
import Providers

/// The presets: those in the program, and the user's own in `providers.d`, which come first.
extension FileConfiguration {
  package func providers() async -> ProviderListAnswer {
    let answer = await providersReading.answer { isWanted in
      switch await self.reader.read({ self.readProviders($0, while: isWanted) }) {
      case .success(let answer): answer
      case .failure(let failure):
        ProviderListAnswer(providers: [], problems: [Self.problem(failure, file: self.folder.providersFolder)])
      }
    }
    // Its caller has left.
    return answer ?? ProviderListAnswer(providers: [])
  }

  package func provider(_ request: ProviderShow) async throws(AgentFailure) -> ProviderShowAnswer {
    let reading = await reader.read { self.readProvider(request.provider, $0) }
      .mapError { ConfigurationProblems([Self.problem($0, file: self.folder.providersFolder)]) }
    switch reading.flatMap({ $0 }) {
    case .success(let preset?): return try preset.shown(request.values ?? [:])
    case .success(nil):
      let shown = PrintableText.escaped(request.provider, limit: 80)
      let names = await providers().providers.map(\.provider)
      let meant = NameSuggestion.nearest(to: request.provider, among: names).map { "; did you mean \($0)?" } ?? ""
      throw AgentFailure(.configInvalid, "there is no preset \(shown)\(meant)", hint: .run("oauthctl provider list"))
    case .failure(let found):
      throw AgentFailure(
        .configInvalid, found.problems.first?.told ?? "the preset cannot be read", hint: "put it right, then try again")
    }
  }

  /// Stops between two presets once nobody waits for it.
  func readProviders(_ files: ReadingAttempt, while isWanted: () -> Bool = { true }) -> ProviderListAnswer {
    var answer = ProviderListAnswer(providers: [])
    let own: [String]
    do {
      own = try ownProviders(files)
    } catch {
      own = []
      answer.problems.append(Self.problem(error, file: folder.providersFolder))
    }
    if own.count > ConfigurationLimits.providers {
      answer.problems.append(
        ConfigurationProblem(
          file: folder.providersFolder, line: nil, key: nil,
          reason: "it holds more than \(ConfigurationLimits.providers) presets; the rest is not read"))
    }
    let names = Set(own.prefix(ConfigurationLimits.providers)).union(EmbeddedProviders.all.map(\.name)).sorted()
    for name in names where isWanted() {
      switch readProvider(name, files) {
      case .success(let preset): if let preset { answer.providers.append(preset.summary) }
      case .failure(let found): answer.problems += found.problems.prefix(1)
      }
    }
    return answer
  }

  /// - Returns: nil where there is none of that name.
  func readProvider(_ name: String, _ files: ReadingAttempt) -> Result<ProviderPreset?, ConfigurationProblems> {
    guard AccountFileName.isAccountName(name) else { return .success(nil) }
    let file = folder.providerFile(name)
    do {
      let bytes = try files.read(file, limitBytes: ConfigurationLimits.fileBytes)
      return PresetReader.read(bytes, name: name, file: file, folder: folder).map(Optional.some)
    } catch .missing {
      guard let embedded = EmbeddedProviders.all.first(where: { $0.name == name }) else { return .success(nil) }
      return PresetReader.read(embedded.text, name: name, file: nil, folder: folder).map(Optional.some)
    } catch {
      return .failure(ConfigurationProblems([Self.problem(error, file: file)]))
    }
  }

  private func ownProviders(_ files: ReadingAttempt) throws(TrustedFile.Failure) -> [String] {
    try files.names(in: folder.providersFolder, limit: ConfigurationLimits.providers) {
      $0.hasSuffix(".toml") && AccountFileName.isAccountName(String($0.dropLast(".toml".count)))
    }
    .map { String($0.dropLast(".toml".count)) }
  }
}
