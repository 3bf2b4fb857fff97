import AgentWire

/// The programs that belong together.
enum ProgramCheck {
  static let name = "programs"

  /// Whether they are all there.
  static func isWhole(_ context: DoctorContext) -> Bool { findings(context).allSatisfy { $0.level == .ok } }

  static func findings(_ context: DoctorContext) -> [Finding] {
    guard let program = context.machine.program else { return [] }
    let folder = FileBytes.folder(of: program)
    let names = ["oauthd", "oauthd-fetch", "oauthd-redirect"]
    let missing = names.filter { !context.machine.isExecutable("\(folder)/\($0)") }
    let closed = missing.filter { context.machine.followedStatus("\(folder)/\($0)") != nil }
    if !closed.isEmpty, closed == missing {
      return [
        .wrong(
          name, "\(closed.joined(separator: " and ")) in \(context.shown(folder)) may not be run",
          .run("chmod 755 \(closed.map { context.quoted("\(folder)/\($0)") }.joined(separator: " "))"))
      ]
    }
    // Groups have their own rules (`staff` in /usr/local of Debian); what everybody may change is nobody's.
    let open = ([folder] + (["oauthctl"] + names).map { "\(folder)/\($0)" }).filter { path in
      context.machine.followedStatus(path).map { $0.mode & 0o002 != 0 } ?? false
    }
    if !open.isEmpty {
      return [
        .wrong(
          name, "\(open.map(context.shown).joined(separator: ", ")): everybody may put another program there",
          .run("chmod o-w \(open.map(context.quoted).joined(separator: " "))"))
      ]
    }
    guard missing.isEmpty else {
      return [
        .wrong(
          name, "\(missing.joined(separator: " and ")) should be beside oauthctl in \(context.shown(folder))",
          .advice("install it there: the four programs stay together"))
      ]
    }
    return [
      .ok(
        name,
        "oauthctl \(ProjectVersion.current), with oauthd, oauthd-fetch and oauthd-redirect in \(context.shown(folder))")
    ]
  }
}

/// The wall clock: what servers say about times is compared with it.
enum ClockCheck {
  /// 1 January 2026: before it, this program was not there.
  static let oldest = 1_767_225_600

  static func finding(_ context: DoctorContext) -> Finding {
    let fix =
      UnitCheck.hasSystemd(context.machine)
      ? NextStep.run("timedatectl set-ntp true") : "set it right, and have a program such as chrony keep it so"
    if context.machine.now < oldest {
      return .wrong("clock", "the clock says a time before this program was made", fix)
    }
    if context.machine.clockIsSynchronized == false {
      return .note("clock", "nothing keeps the clock right", fix)
    }
    return .ok("clock", context.machine.clockIsSynchronized == nil ? "plausible" : "kept right")
  }
}
