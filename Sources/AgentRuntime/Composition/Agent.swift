import AgentCore
import AgentWire
import Glibc
import Logging
import Sealing
import SystemFacts
import TokenVault

/// The agent whole: everything is built here, once, and run until the process gets the signal to stop.
struct Agent {
  /// Seconds that a stop waits for token requests under way: an answer that nobody reads loses a login.
  private static let drainSeconds = 60.0
  /// How often the agent looks whether its socket is still where callers look for it.
  private static let placeInterval = Duration.seconds(10)
  /// How long after its start the agent begins to listen for changes of the configuration.
  private static let watchDelay = Duration.milliseconds(500)

  private let environment: [String: String]
  private let inherited: [InheritedSocket]
  private let log: AgentLog
  private var logger: Logger { log.logger }
  /// `systemd` when a service manager started it, `on_demand` when `oauthctl` did.
  private let started: String

  private let uid = getuid()
  private let paths: AgentPaths
  private let asideDirectories: [String]
  /// What could not be had of what protects the process.
  private let degraded: [AgentCondition]

  /// Restricts the process, and has to be called before there are other threads. `environment` and `inherited` are what the
  /// process was started with. Throws ``AgentStartError`` when it has no home.
  init(environment: [String: String], inherited: [InheritedSocket], log: AgentLog) throws {
    self.environment = environment
    self.inherited = inherited
    self.log = log
    started = Self.starter(environment, inherited)
    var degraded = ProcessGuard.harden()
    do { paths = try AgentPaths(environment: environment) } catch { throw AgentStartError("\(error)", hint: nil) }
    asideDirectories = paths.asideDirectories(
      runtimeDirectory: environment["XDG_RUNTIME_DIR"], uid: uid, status: SocketLocation.fileStatus)
    if started == "systemd" {
      // What is made later would lie outside of the fence.
      for folder in [paths.vaultDirectory, paths.stateDirectory] { _ = PrivateCreation.makeFolders(folder) }
      if let condition = WriteFence.put(around: [paths.vaultDirectory] + asideDirectories) {
        degraded.append(condition)
      }
    }
    self.degraded = degraded
  }

  /// Serves until SIGTERM or SIGINT comes. Throws ``AgentStartError`` when it cannot listen.
  func run() async throws {
    let signals: ProcessSignals
    let loop: ServingLoop
    let time: SystemTime
    do throws(UnixSocket.Errno) {
      // Before anybody is told that we are here: untrapped, a signal would end the process.
      signals = try ProcessSignals.trap()
      loop = try ServingLoop.start()
      time = try await SystemTime.start(on: loop)
    } catch { throw AgentStartError("cannot start: \(String(cString: strerror(error.code)))", hint: nil) }
    let random = SystemRandom()
    let (socket, location) = try listeningSocket(uid: uid)
    let place = SocketPlace(of: socket.descriptor)

    let folder = ConfigurationFolder(
      path: paths.configuration, home: environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil })
    let configuration = FileConfiguration(folder: folder, uid: uid, settled: log.threshold.follow)
    let settings = await configuration.begin()
    let vault = Vault(
      location: VaultLocation(
        directory: paths.vaultDirectory, keyFile: paths.keyFile, counterFile: paths.commitCounter,
        asideDirectories: asideDirectories,
        allowsNetworkFileSystem: settings.allowsNetworkHome,
        usual: VaultLocation.Usual(database: paths.usualDatabase, keyFile: paths.usualKeyFile)),
      socketPathForLock: location, random: random)
    guard let executable = OwnExecutable.path ?? CommandLine.unsafeArgv[0].flatMap({ String(validatingCString: $0) })
    else {
      throw AgentStartError("the programs beside oauthd are not found: \(OwnExecutable.pathProblem)", hint: nil)
    }
    let fetch = FetchProcess(
      helper: HelperProcess.path("oauthd-fetch", beside: executable),
      userAgent: "oauthd/\(ProjectVersion.current)", uid: uid)
    let owed = PendingAnswers()
    let pages = IdleMemoryRelease(owed: owed)
    let transport = MemoryReleasingTransport(
      inner: ProxiedTransport(inner: fetch, rules: { configuration.current.proxyRules }), pages: pages)
    let ready = ReadyTokens()
    let service = CredentialService(
      store: vault, transport: transport, configuration: configuration, time: time, random: random, ready: ready,
      logger: logger)
    let logins = LoginCoordinator(
      service: service,
      redirects: HelperRedirectReceiver(
        helper: HelperProcess.path("oauthd-redirect", beside: executable), uid: uid, loop: loop, logger: logger),
      time: time, random: random, logger: logger)
    let router = AgentRouter(
      service: service, logins: logins, vault: VaultAdapter(vault), ready: ready, time: time,
      admission: Admission(uid: uid),
      identity: AgentIdentity(
        pid: getpid(), started: started, startedAt: time.now(), degraded: degraded,
        folders: [
          "configuration": folder.path, "data": paths.vaultDirectory,
          "state": paths.stateDirectory,
        ],
        log: log.place.name, conditions: { log.conditions }),
      logger: logger)
    let listener: SocketListener
    do {
      listener = try await SocketListener.start(
        socket, uid: uid, responder: router, on: loop, logger: logger, owed: owed,
        crowdLeft: { pages.giveBackSoon() })
    } catch { throw AgentStartError("\(error)", hint: nil) }

    let supervision = Supervision(
      notifier: ServiceNotifier(environment: environment), service: service, loop: loop, logger: logger)
    logger.info("listening", metadata: ["event": "started", "socket": "\(location)", "pid": "\(getpid())"])
    let watchdog = supervision.ready(
      watchdogMicroseconds: Watchdog.intervalMicroseconds(environment, pid: getpid()))

    let lookout = place.flatMap(leaveWhenUnreachable)
    pages.giveBackSoon()

    // After the callers that made it start were answered: what changes until then waits in the descriptor.
    let watching = Task {
      try await Task.sleep(for: Self.watchDelay)
      await configuration.watch.listen(on: loop) { Task { await supervision.filesChanged() } }
    }

    await signals.untilEnd(on: loop) { await supervision.reload() }
    lookout?.cancel()
    watching.cancel()
    let reminder = supervision.stopping()
    logger.info("stopping", metadata: ["event": "stopping"])
    // Nobody may answer them for minutes.
    await logins.giveUpQuestions()
    if started == "systemd" {
      // The socket is the service manager's: whoever comes now waits in it for the next agent.
      await listener.close()
      await service.drain(seconds: Self.drainSeconds)
      await close(vault)
    } else {
      // The next agent starts when the socket is gone, and finds the vault free. Until then callers are served what is
      // ready, and told to ask again for the rest.
      await service.drain(seconds: Self.drainSeconds)
      await close(vault)
      await listener.close()
    }
    reminder.cancel()
    watchdog?.cancel()
  }

  private func close(_ vault: Vault) async {
    guard let failure = await vault.close() else { return }
    logger.error(
      "what others put over the open vault could not be put right: what the agent alone had is lost",
      metadata: ["reason": "\(AgentFailure(failure).message)"])
  }

  /// An agent that no caller can reach any more would keep the vault from the next one: it ends as after a signal. Under
  /// systemd the socket is systemd's business.
  private func leaveWhenUnreachable(_ place: SocketPlace) -> Task<Void, any Error>? {
    guard started != "systemd" else { return nil }
    return Task {
      repeat { try await Task.sleep(for: Self.placeInterval) } while place.isReachable
      logger.notice("the socket was removed or replaced", metadata: ["socket": "\(place.path)"])
      kill(getpid(), SIGTERM)
    }
  }

  private func listeningSocket(uid: UInt32) throws(AgentStartError) -> (ListeningSocket, String) {
    do {
      if let given = inherited.first(where: { $0.name == "agent" }) ?? inherited.first {
        let socket = try ListeningSocket.adopt(given.descriptor)
        return (socket, SocketPlace(of: given.descriptor)?.path ?? "descriptor \(given.descriptor)")
      }
    } catch { throw AgentStartError("\(error)", hint: "start it without LISTEN_FDS, or with a listening Unix socket") }
    let location: SocketLocation
    do throws(SocketLocation.Failure) {
      location = try SocketLocation.resolve(variable: { environment[$0] }, uid: uid, status: SocketLocation.fileStatus)
    } catch { throw AgentStartError(error.message, hint: error.hint.line) }
    do { return (try ListeningSocket.open(at: location, uid: uid), location.path) } catch {
      throw AgentStartError("\(error)", hint: nil)
    }
  }

  private static func starter(_ environment: [String: String], _ inherited: [InheritedSocket]) -> String {
    if environment["OAUTHCTL_STARTED"] == "on_demand" { return "on_demand" }
    return environment["INVOCATION_ID"] != nil && !inherited.isEmpty ? "systemd" : "by_hand"
  }
}

/// Why the agent could not start, and what to do.
struct AgentStartError: Error, CustomStringConvertible {
  var message: String
  var hint: String?

  init(_ message: String, hint: String?) {
    self.message = message
    self.hint = hint
  }

  var description: String { hint.map { "\(message)\n  \($0)" } ?? message }
}
