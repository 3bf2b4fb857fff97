import AgentWire

/// What the sandbox around the running agent does, read from the kernel, not from unit files.
enum SandboxCheck {
  static func findings(_ context: DoctorContext) -> [Finding] {
    guard let status = context.status else { return [] }
    let machine = context.machine
    return aroundAgent(status, machine, context) + aroundHelper(machine)
  }

  /// `oauthd-fetch` and `oauthd-redirect` restrict themselves; what they cannot do without the kernel's help is reported.
  private static func aroundHelper(_ machine: Machine) -> [Finding] {
    guard machine.landlockVersion == 0 else { return [] }
    return [
      .note(
        "sandbox",
        "this kernel has no Landlock: what talks to servers and browsers (oauthd-fetch, oauthd-redirect) could read your"
          + " files",
        .advice("use a kernel with Landlock (5.13 or later, with `landlock` among its security modules)"))
    ]
  }

  private static func aroundAgent(_ status: AgentStatusAnswer, _ machine: Machine, _ context: DoctorContext)
    -> [Finding]
  {
    let process = "/proc/\(status.pid)"
    guard let owner = machine.status("\(process)/status")?.owner, let text = machine.text("\(process)/status") else {
      return [.note("sandbox", "\(process) cannot be read, so it is not known what is around the agent")]
    }
    var findings: [Finding] = []
    // The files of an undumpable process belong to root (proc(5)), but not their folder; for root himself it cannot be
    // told.
    if owner == machine.userID, machine.userID != 0 {
      findings.append(
        .wrong("sandbox", "other programs of yours can read the agent's memory (it is dumpable)", context.restart))
    }
    guard status.started == "systemd" else {
      return findings + [.note("sandbox", "none: the agent was not started by systemd")]
    }
    let repair = NextStep.run("systemctl --user daemon-reload; systemctl --user restart oauthd.service")
    if field("NoNewPrivs", text) != "1" || field("Seccomp", text) != "2" {
      findings.append(.wrong("sandbox", "the unit's restrictions of system calls have no effect", repair))
    }
    let isFenced =
      machine.text("\(process)/uid_map").map(Self.words) != machine.text("/proc/self/uid_map").map(Self.words)
    let dropIn = UnitCheck.find("oauthd.service.d/50-sandbox.conf", context)
    switch (isFenced, dropIn) {
    case (true, _):
      // The kernel gives who made its namespace a hold on every program in it that he may read.
      let memory = isReadable(machine) ? "; your other programs can read its memory (threat-model.md)" : ""
      findings.append(.ok("sandbox", "system calls restricted, files and devices fenced off\(memory)"))
    case (false, let path?) where !UnitCheck.isMasked(path, context):
      findings.append(.wrong("sandbox", "\(context.shown(path)) has no effect: files are not fenced off", repair))
    default:
      findings.append(
        .note("sandbox", "system calls restricted, files not fenced off: there is no 50-sandbox.conf"))
    }
    return findings
  }

  /// Whether the user may read `oauthd`, which lies beside this program.
  private static func isReadable(_ machine: Machine) -> Bool {
    guard machine.userID != 0, let program = machine.program,
      let found = machine.followedStatus(FileBytes.folder(of: program) + "/oauthd")
    else { return false }
    return found.owner == machine.userID || found.mode & 0o004 != 0
  }

  private static func field(_ name: String, _ status: String) -> String? {
    for line in status.split(separator: "\n") where line.hasPrefix("\(name):") {
      return String(line.dropFirst(name.count + 1)).trimmed
    }
    return nil
  }

  private static func words(_ text: String) -> [String] {
    text.split(whereSeparator: { $0 == " " || $0 == "\n" }).map(String.init)
  }
}
