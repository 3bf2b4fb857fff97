import AgentCore
import AgentWire
import CLinux
import Glibc
import Logging
import SystemFacts

/// The agent's side of its supervision: tells the service manager what it does, feeds the watchdog, asks for time while
/// it drains. Without a manager all of it is silence.
struct Supervision: Sendable {
  /// Seconds that the service manager waits for the next sign of a stop.
  private static let patienceSeconds: Int64 = 15
  /// Seconds between two signs: two may come late.
  private static let reminderSeconds: Int64 = 5
  /// Problems of the configuration files that one reading writes to the log.
  private static let loggedProblems = 20

  private let notifier: ServiceNotifier
  private let service: CredentialService
  private let loop: ServingLoop
  private let logger: Logger

  init(notifier: ServiceNotifier, service: CredentialService, loop: ServingLoop, logger: Logger) {
    self.notifier = notifier
    self.service = service
    self.loop = loop
    self.logger = logger
  }

  /// Requests are taken from now on; opens the vault, so that whoever comes first finds it open or waits for the same
  /// opening. `watchdogMicroseconds` is nil where nobody watches.
  func ready(watchdogMicroseconds: Int64?) -> Task<Void, any Error>? {
    notifier.notify(.ready, .status("serving"))
    Task { [notifier, service] in
      await service.follow { state in
        switch state {
        case .accounts(let count, let problems):
          notifier.notify(.status(Self.status(accounts: count, problems: problems)))
        case .locked: notifier.notify(.status("locked"))
        }
      }
      do throws(AgentFailure) {
        try await service.open()
      } catch {
        notifier.notify(.status(Self.status(failure: error)))
      }
    }
    return watchdogMicroseconds.map { interval in
      Watchdog.feed(every: interval, on: loop, notifier: notifier) { await service.ping() }
    }
  }

  /// `config.reload` for SIGHUP. Connections stay.
  func reload() async {
    notifier.notify(
      .reloading(monotonicMicroseconds: Int64(MonotonicClock.microseconds())), .status("reading its files again"))
    do throws(AgentFailure) {
      notifier.notify(.ready, reread(try await service.reload()))
    } catch {
      logger.warning("the configuration cannot be read again", metadata: ["reason": "\(error.message)"])
      notifier.notify(.ready, .status(Self.status(failure: error)))
    }
  }

  /// Somebody changed the configuration files.
  func filesChanged() async {
    if let answer = await service.filesChanged() { notifier.notify(reread(answer)) }
  }

  private func reread(_ answer: ConfigReloadAnswer) -> ServiceNotifier.State {
    logger.info("configuration read again", metadata: ["event": "reloaded", "accounts": "\(answer.accounts)"])
    for problem in answer.problems.prefix(Self.loggedProblems) { logger.warning("\(Self.line(problem))") }
    let leftOut = answer.problemsLeftOut ?? 0
    if answer.problems.count + leftOut > Self.loggedProblems {
      logger.warning(
        "and \(answer.problems.count + leftOut - Self.loggedProblems) more problems in configuration files")
    }
    return .status(Self.status(accounts: answer.accounts, problems: answer.problems, leftOut: leftOut))
  }

  /// The end begins: from now on the manager is asked for more time, again and again, until the task is cancelled or the
  /// loop hangs.
  func stopping() -> Task<Void, any Error> {
    let more = ServiceNotifier.State.extendTimeout(microseconds: Self.patienceSeconds * 1_000_000)
    notifier.notify(.stopping, .status("finishing what is under way"), more)
    return Task {
      while true {
        try await Task.sleep(for: .seconds(Self.reminderSeconds))
        await loop.run { _ in notifier.notify(more) }
      }
    }
  }

  /// The line of `systemctl status`. Names come from files, so they are escaped.
  static func status(accounts: Int, problems: [ConfigurationProblem], leftOut: Int = 0) -> String {
    let serving = "serving \(accounts) account\(accounts == 1 ? "" : "s")"
    guard let first = problems.first else { return serving }
    let others = problems.count - 1 + leftOut
    let more = others == 0 ? "" : " (and \(others) more)"
    return "\(serving); a file has a problem: \(line(first))\(more)"
  }

  static func status(failure: AgentFailure) -> String {
    "answering failures: \(PrintableText.escaped(failure.message, limit: 200))"
  }

  private static func line(_ problem: ConfigurationProblem) -> String {
    let place = problem.line.map { ":\($0)" } ?? ""
    let key = problem.key.map { "\($0) " } ?? ""
    return PrintableText.escaped("\(problem.file)\(place): \(key)\(problem.reason)", limit: 300)
  }
}
