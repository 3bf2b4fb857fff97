import AgentClient
import AgentWire

/// The user's systemd and the units it has for the agent. Files are looked at: what the manager would say takes a bus that is
/// not always there. It is asked where somebody listens and nobody answers.
enum UnitCheck {
  /// As sd_booted(3) looks.
  static func hasSystemd(_ machine: Machine) -> Bool { machine.status("/run/systemd/system") != nil }

  static func findings(_ context: DoctorContext) -> [Finding] {
    let machine = context.machine
    guard hasSystemd(machine) else {
      return [.ok("units", "no systemd runs here; oauthctl starts the agent itself")]
    }
    guard let socket = find("oauthd.socket", context) else {
      return [
        .note("units", "there are none; oauthctl starts the agent itself", .advice("`make install` puts them there"))
      ]
    }
    if isMasked(socket, context) {
      return [.note("units", "oauthd.socket is masked", .run("systemctl --user unmask oauthd.socket"))]
    }
    guard let service = find("oauthd.service", context), let text = machine.text(service) else {
      return [
        .wrong(
          "units", "\(context.shown(socket)) is there, but no oauthd.service", .advice("install it again, whole"))
      ]
    }
    guard let program = program(text, context), machine.isExecutable(program) else {
      return [
        .wrong(
          "units", "\(context.shown(service)) starts a program that is not there",
          .advice("install it again, then: systemctl --user daemon-reload"))
      ]
    }
    if let unit = failing(context) { return [.wrong("units", unit.reason, unit.remedy)] }
    return [use(program, context), linger(context)]
  }

  /// The service that systemd cannot start, where that is why there is no answer; nil: it is not.
  static func failing(_ context: DoctorContext) -> FailingUnit? {
    guard hasSystemd(context.machine), context.environment["OAUTHCTL_SOCKET"] == nil,
      case .absent(let error) = context.agent
    else { return nil }
    switch error {
    case .noAnswer, .notReachable(_, _, isAbsent: false):
      return FailingUnit.look {
        context.machine.output(["systemctl"] + FailingUnit.question).flatMap { $0.status == 0 ? $0.text : nil }
      }
    default: return nil
    }
  }

  private static func use(_ program: String, _ context: DoctorContext) -> Finding {
    let isEnabled = folders(context).contains {
      context.machine.status("\($0)/sockets.target.wants/oauthd.socket") != nil
    }
    if !isEnabled {
      return .note(
        "units", "there, but not enabled; oauthctl starts them when it needs the agent",
        .run("systemctl --user enable --now oauthd.socket"))
    }
    if let own = context.machine.program, program != FileBytes.folder(of: own) + "/oauthd" {
      return .note(
        "units", "they start \(context.shown(program)), which is not the oauthd beside this oauthctl",
        .advice("keep one installation, or use its oauthctl"))
    }
    if let status = context.status, status.started != "systemd" {
      return .note(
        "units", "enabled, but the agent that runs is not theirs",
        .run("oauthctl agent restart"))
    }
    return .ok("units", "enabled, and they start \(context.shown(program))")
  }

  private static func linger(_ context: DoctorContext) -> Finding {
    let user = context.environment["USER"] ?? context.environment["LOGNAME"] ?? ""
    guard !user.isEmpty, !user.contains("/") else {
      return .note("linger", "USER is not set, so nobody can tell whether the agent stays")
    }
    return context.machine.status("/var/lib/systemd/linger/\(user)") != nil
      ? .ok("linger", "the agent stays when you log out")
      : .note(
        "linger", "the agent ends with your last session, and tokens are not renewed meanwhile",
        .run("loginctl enable-linger"))
  }

  static func folders(_ context: DoctorContext) -> [String] {
    var environment: [String: String] = [:]
    for name in ["HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "XDG_DATA_HOME"] {
      environment[name] = context.environment[name]
    }
    return StartPolicy.unitFolders(environment)
  }

  /// The file of a unit that the manager takes: the first.
  static func find(_ name: String, _ context: DoctorContext) -> String? {
    folders(context).map { "\($0)/\(name)" }.first { context.machine.followedStatus($0) != nil }
  }

  static func isMasked(_ path: String, _ context: DoctorContext) -> Bool {
    context.machine.status(path)?.kind == .symbolicLink && context.machine.text(path)?.isEmpty ?? true
  }

  /// What `ExecStart=` starts.
  static func program(_ unit: String, _ context: DoctorContext) -> String? {
    for line in unit.split(separator: "\n") where line.hasPrefix("ExecStart=") {
      let word = line.dropFirst("ExecStart=".count).prefix { $0 != " " }
      let path = word.drop { "@-:+!".contains($0) }
      guard !path.isEmpty else { continue }
      return expanded(String(path), context)
    }
    return nil
  }

  private static func expanded(_ path: String, _ context: DoctorContext) -> String {
    var result = ""
    var isSpecifier = false
    for character in path {
      if isSpecifier {
        result += character == "h" ? context.environment.home ?? "" : String(character)
        isSpecifier = false
      } else if character == "%" {
        isSpecifier = true
      } else {
        result.append(character)
      }
    }
    return result
  }
}
