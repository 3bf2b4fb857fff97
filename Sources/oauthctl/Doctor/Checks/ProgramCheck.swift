import AgentWire

/// The programs that belong together.
enum ProgramCheck {
  static let name = "programs"

  /// Whether they are all there.
  static func isWhole(_ patient: Patient) -> Bool { findings(patient).allSatisfy { $0.level == .ok } }

  static func findings(_ patient: Patient) -> [Finding] {
    guard let program = patient.machine.program else { return [] }
    let folder = FileBytes.folder(of: program)
    let missing = ["oauthd", "oauthd-fetch", "oauthd-redirect"].filter {
      !patient.machine.isExecutable("\(folder)/\($0)")
    }
    guard missing.isEmpty else {
      return [
        .wrong(
          name, "\(missing.joined(separator: " and ")) should be beside oauthctl in \(patient.shown(folder))",
          .advice("install it there: the four programs stay together"))
      ]
    }
    return [
      .ok(
        name,
        "oauthctl \(ProjectVersion.current), with oauthd, oauthd-fetch and oauthd-redirect in \(patient.shown(folder))")
    ]
  }
}

/// The wall clock: what servers say about times is compared with it.
enum ClockCheck {
  /// 1 January 2026: before it, this program was not there.
  static let oldest = 1_767_225_600

  static func finding(_ patient: Patient) -> Finding {
    let fix = Finding.Fix.run("timedatectl set-ntp true")
    if patient.machine.now < oldest {
      return .wrong("clock", "the clock says a time before this program was made", fix)
    }
    if patient.machine.clockIsSynchronized == false {
      return .note("clock", "nothing keeps the clock right", fix)
    }
    return .ok("clock", patient.machine.clockIsSynchronized == nil ? "plausible" : "kept right")
  }
}
