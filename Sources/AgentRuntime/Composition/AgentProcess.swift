import Glibc
package import Logging

/// The agent as a process of its own: what `oauthd`'s main does.
package enum AgentProcess {
  /// Serves until SIGTERM or SIGINT. Returns the exit status: 0, or 1 when it could not start; the reason is in the log.
  /// `logLevel` cannot be changed while the agent runs; nil: `config.toml` says.
  package static func run(logLevel: Logger.Level?) async -> Int32 {
    let environment = ProcessEnvironment.read()
    let log = AgentLog(environment: environment, commandLineLevel: logLevel)
    do {
      // The numbers of their descriptors are given: no other may be opened before.
      let inherited = try InheritedSockets.take()
      for name in ServiceNotifier.variables { unsetenv(name) }
      let agent = Agent(environment: environment, inherited: inherited, log: log)
      try await agent.run()
      await log.finish()
      return 0
    } catch {
      log.tell(error)
      await log.finish()
      return 1
    }
  }
}

/// The environment the process was started with.
package enum ProcessEnvironment {
  /// To be called before there are other threads. Of a name that is there twice the first counts, as with getenv(3).
  package static func read() -> [String: String] {
    var found: [String: String] = [:]
    var next = environ
    while let entry = next.pointee {
      let text = String(cString: entry)
      if let equals = text.firstIndex(of: "="), found[String(text[..<equals])] == nil {
        found[String(text[..<equals])] = String(text[text.index(after: equals)...])
      }
      next += 1
    }
    return found
  }
}
