import Glibc
package import Logging

/// The agent as a process of its own: what `oauthd`'s main does.
package struct AgentProcess {
  private let log: AgentLog
  private let agent: Result<Agent, any Error>

  /// To be called before there are other threads: the kernel's restrictions hold for this one and those that come of it.
  /// `logLevel` cannot be changed while the agent runs; nil: `config.toml` says.
  package init(logLevel: Logger.Level?) {
    let environment = ProcessEnvironment.read()
    let log = AgentLog(environment: environment, commandLineLevel: logLevel)
    agent = Result {
      // The numbers of their descriptors are given: no other may be opened before.
      let inherited = try InheritedSockets.take()
      for name in ServiceNotifier.variables { unsetenv(name) }
      return try Agent(environment: environment, inherited: inherited, log: log)
    }
    self.log = log
  }

  /// Serves until SIGTERM or SIGINT. Returns the exit status: 0, or 1 when it could not start; the reason is in the log.
  package func run() async -> Int32 {
    do {
      try await agent.get().run()
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
