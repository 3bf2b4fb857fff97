import AgentWire
import SystemFacts

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
      // Such as /tmp, which has to be open.
      let isSticky = context.machine.followedStatus(folder).map { $0.mode & 0o1002 == 0o1002 } ?? false
      return [
        .wrong(
          name, "\(open.map(context.shown).joined(separator: ", ")): everybody may put another program there",
          isSticky
            ? .advice(ProgramBeside.Fault.remedy)
            : .run("chmod o-w \(open.map(context.quoted).joined(separator: " "))"))
      ]
    }
    for path in names.map({ "\(folder)/\($0)" }) {
      if case .owner(_, let owner)? = fault(of: path, program, context.machine) {
        return [
          .wrong(
            name, "\(context.shown(path)) \(FileOwner.reason(owner)), and is not started",
            .advice("install all four programs anew"))
        ]
      }
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

  private static func fault(of path: String, _ program: String, _ machine: Machine) -> ProgramBeside.Fault? {
    @Sendable func facts(_ status: SocketLocation.FileStatus) -> FolderTrust.Facts {
      .init(isFolder: status.kind == .directory, owner: status.owner, mode: status.mode)
    }
    return ProgramBeside.fault(
      of: path, programOwner: machine.followedStatus(program)?.owner, userID: machine.userID,
      facts: { machine.status($0).map(facts) }, followed: { machine.followedStatus($0).map(facts) })
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
