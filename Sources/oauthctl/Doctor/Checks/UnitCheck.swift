import AgentClient
import AgentWire

/// The user's systemd and the units it has for the agent. Files alone are looked at: what the manager would say takes
/// a bus that is not always there.
enum UnitCheck {
  static func findings(_ patient: Patient) -> [Finding] {
    let machine = patient.machine
    guard machine.status("/run/systemd/system") != nil else {
      return [.ok("units", "no systemd runs here; oauthctl starts the agent itself")]
    }
    guard let socket = find("oauthd.socket", patient) else {
      return [
        .note("units", "there are none; oauthctl starts the agent itself", .advice("`make install` puts them there"))
      ]
    }
    if isMasked(socket, patient) {
      return [.note("units", "oauthd.socket is masked", .run("systemctl --user unmask oauthd.socket"))]
    }
    guard let service = find("oauthd.service", patient), let text = machine.text(service) else {
      return [
        .wrong(
          "units", "\(patient.shown(socket)) is there, but no oauthd.service", .advice("install it again, whole"))
      ]
    }
    guard let program = program(text, patient), machine.isExecutable(program) else {
      return [
        .wrong(
          "units", "\(patient.shown(service)) starts a program that is not there",
          .advice("install it again, then: systemctl --user daemon-reload"))
      ]
    }
    return [use(program, patient), linger(patient)]
  }

  private static func use(_ program: String, _ patient: Patient) -> Finding {
    let isEnabled = folders(patient).contains {
      patient.machine.status("\($0)/sockets.target.wants/oauthd.socket") != nil
    }
    if !isEnabled {
      return .note(
        "units", "there, but not enabled; oauthctl starts them when it needs the agent",
        .run("systemctl --user enable --now oauthd.socket"))
    }
    if let own = patient.machine.program, program != FileBytes.folder(of: own) + "/oauthd" {
      return .note(
        "units", "they start \(patient.shown(program)), which is not the oauthd beside this oauthctl",
        .advice("keep one installation, or use its oauthctl"))
    }
    if let status = patient.status, status.started != "systemd" {
      return .note(
        "units", "enabled, but the agent that runs is not theirs",
        .run("oauthctl agent restart"))
    }
    return .ok("units", "enabled, and they start \(patient.shown(program))")
  }

  private static func linger(_ patient: Patient) -> Finding {
    let user = patient.surroundings["USER"] ?? patient.surroundings["LOGNAME"] ?? ""
    guard !user.isEmpty, !user.contains("/") else { return .note("linger", "USER is not set, so it cannot be told") }
    return patient.machine.status("/var/lib/systemd/linger/\(user)") != nil
      ? .ok("linger", "the agent stays when you log out")
      : .note(
        "linger", "the agent ends with your last session, and tokens are not renewed meanwhile",
        .run("loginctl enable-linger"))
  }

  static func folders(_ patient: Patient) -> [String] {
    var environment: [String: String] = [:]
    for name in ["HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "XDG_DATA_HOME"] {
      environment[name] = patient.surroundings[name]
    }
    return StartPolicy.unitFolders(environment)
  }

  /// The file of a unit, or of a drop-in as `oauthd.service.d/NAME`, that the manager takes: the first.
  static func find(_ name: String, _ patient: Patient) -> String? {
    folders(patient).map { "\($0)/\(name)" }.first { patient.machine.followedStatus($0) != nil }
  }

  static func isMasked(_ path: String, _ patient: Patient) -> Bool {
    patient.machine.status(path)?.kind == .symbolicLink && patient.machine.text(path)?.isEmpty ?? true
  }

  /// What `ExecStart=` starts.
  static func program(_ unit: String, _ patient: Patient) -> String? {
    for line in unit.split(separator: "\n") where line.hasPrefix("ExecStart=") {
      let word = line.dropFirst("ExecStart=".count).prefix { $0 != " " }
      let path = word.drop { "@-:+!".contains($0) }
      guard !path.isEmpty else { continue }
      return expanded(String(path), patient)
    }
    return nil
  }

  private static func expanded(_ path: String, _ patient: Patient) -> String {
    var result = ""
    var isSpecifier = false
    for character in path {
      if isSpecifier {
        result += character == "h" ? patient.surroundings.home ?? "" : String(character)
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
