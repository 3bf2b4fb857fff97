import AgentCore
import AgentWire
import CLinux
import Glibc
import Logging
import NIOPosix
import OAuthProtocol
import Sealing
import ServiceLifecycle
import TokenVault

/// The agent whole: everything is built here, once, and run until the process is told to stop.
struct Agent: Service {
  /// Seconds that a stop waits for token requests under way: an answer that nobody reads loses a login.
  private static let drainSeconds = 60.0

  private let environment: [String: String]
  private let inherited: [InheritedSocket]
  private let logger: Logger

  /// `environment` and `inherited` are what the process was started with.
  init(environment: [String: String], inherited: [InheritedSocket], logger: Logger) {
    self.environment = environment
    self.inherited = inherited
    self.logger = logger
  }

  /// Serves until a graceful shutdown. Throws ``AgentStartError`` when it cannot listen or has no home.
  func run() async throws {
    let degraded = Self.harden()
    let paths: AgentPaths
    do { paths = try AgentPaths(environment: environment) } catch { throw AgentStartError("\(error)", hint: nil) }
    let time = SystemTime()
    let random = SystemRandom()
    let uid = getuid()
    let (socket, location) = try listeningSocket(uid: uid)

    let folder =
      ConfigurationFolder(environment: environment) ?? ConfigurationFolder(path: paths.configuration, home: nil)
    let configuration = FileConfiguration(folder: folder, uid: uid)
    let vault = Vault(
      location: VaultLocation(
        directory: paths.vaultDirectory, keyFile: paths.keyFile, counterFile: paths.commitCounter,
        allowsNetworkFileSystem: configuration.settings().settings.allowsNetworkHome),
      socketPathForLock: location, random: random)
    let fetch = FetchProcess(
      helper: FetchProcess.beside(Self.executable), userAgent: "oauthd/\(ProjectVersion.current)")
    let transport = ProxiedTransport(inner: fetch, rules: { configuration.current.proxyRules })
    let ready = ReadyTokens()
    let service = CredentialService(
      store: vault, transport: transport, configuration: configuration, time: time, random: random, ready: ready,
      logger: logger)
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let logins = LoginCoordinator(
      service: service, transport: transport, redirects: NIORedirectReceiver(on: loop), time: time,
      random: random, logger: logger)
    let router = AgentRouter(
      service: service, logins: logins, vault: VaultDoor(vault), ready: ready, time: time,
      admission: Admission(uid: uid),
      identity: AgentIdentity(pid: getpid(), started: started, startedAt: time.now(), degraded: degraded),
      logger: logger)
    let listener: SocketListener
    do {
      listener = try await SocketListener.start(
        socket, name: "agent", uid: uid, responder: router, on: loop, logger: logger)
    } catch { throw AgentStartError("\(error)", hint: nil) }

    let notifier = ServiceNotifier(environment: environment)
    notifier.notify(.ready, .status("listening on \(location)"))
    logger.info("listening", metadata: ["socket": "\(location)", "pid": "\(getpid())"])
    // Not before the first request can be answered, and whoever comes first waits for the same opening.
    Task { try? await service.open() }

    try? await gracefulShutdown()
    notifier.notify(.stopping)
    logger.info("stopping")
    await listener.close()
    await service.drain(seconds: Self.drainSeconds)
    await vault.close()
  }

  private func listeningSocket(uid: UInt32) throws(AgentStartError) -> (ListeningSocket, String) {
    do {
      if let given = inherited.first(where: { $0.name == "agent" }) ?? inherited.first {
        return (try ListeningSocket.adopt(given.descriptor), "descriptor \(given.descriptor)")
      }
    } catch { throw AgentStartError("\(error)", hint: "start it without LISTEN_FDS, or with a listening Unix socket") }
    let location: SocketLocation
    do throws(SocketLocation.Failure) {
      location = try SocketLocation.resolve(variable: { environment[$0] }, uid: uid, status: SocketLocation.fileStatus)
    } catch { throw AgentStartError(error.message, hint: error.hint) }
    do { return (try ListeningSocket.open(at: location, uid: uid), location.path) } catch {
      throw AgentStartError("\(error)", hint: nil)
    }
  }

  /// `systemd` when a service manager started it, `on_demand` when `oauthctl` did.
  private var started: String {
    if environment["OAUTHCTL_STARTED"] == "on_demand" { return "on_demand" }
    return environment["INVOCATION_ID"] != nil && !inherited.isEmpty ? "systemd" : "by_hand"
  }

  /// Before any secret is there: no core, no tracing by the same user, private files, no death by a broken pipe.
  private static func harden() -> [String] {
    umask(0o077)
    signal(SIGPIPE, SIG_IGN)
    return clinux_make_undumpable() == 0
      ? [] : ["the process could not be made undumpable: core files may hold secrets"]
  }

  private static var executable: String {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &path, path.count - 1)
    guard count > 0 else { return CommandLine.arguments.first ?? "oauthd" }
    return String(decoding: path[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
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
