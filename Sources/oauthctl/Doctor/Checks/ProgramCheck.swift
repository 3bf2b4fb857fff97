import AgentWire

/// The programs that belong together.
enum ProgramCheck {
  static let name = "programs"

  /// Whether they are all there.
  static func isWhole(_ patient: Patient) -> Bool { findings(patient).allSatisfy { $0.level == .ok } }

  static func findings(_ patient: Patient) -> [Finding] {
    guard let program = patient.machine.program else { return [] }
    let folder = FileBytes.folder(of: program)
    let names = ["oauthd", "oauthd-fetch", "oauthd-redirect"]
    let missing = names.filter { !patient.machine.isExecutable("\(folder)/\($0)") }
    let closed = missing.filter { patient.machine.followedStatus("\(folder)/\($0)") != nil }
    if !closed.isEmpty, closed == missing {
      return [
        .wrong(
          name, "\(closed.joined(separator: " and ")) in \(patient.shown(folder)) may not be run",
          .run("chmod 755 \(closed.map { patient.quoted("\(folder)/\($0)") }.joined(separator: " "))"))
      ]
    }
    // Groups have their own rules (`staff` in /usr/local of Debian); what everybody may change is nobody's.
    let open = ([folder] + (["oauthctl"] + names).map { "\(folder)/\($0)" }).filter { path in
      patient.machine.followedStatus(path).map { $0.mode & 0o002 != 0 } ?? false
    }
    if !open.isEmpty {
      return [
        .wrong(
          name, "\(open.map(patient.shown).joined(separator: ", ")): everybody may put another program there",
          .run("chmod o-w \(open.map(patient.quoted).joined(separator: " "))"))
      ]
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

  static let fix = Finding.Fix.run("timedatectl set-ntp true")

  /// How the agent begins to say that a server has another time.
  static let agentsRemark = "this machine's clock "

  static func finding(_ patient: Patient) -> Finding {
    if patient.machine.now < oldest {
      return .wrong("clock", "the clock says a time before this program was made", fix)
    }
    if patient.machine.clockIsSynchronized == false {
      return .note("clock", "nothing keeps the clock right", fix)
    }
    return .ok("clock", patient.machine.clockIsSynchronized == nil ? "plausible" : "kept right")
  }
}
