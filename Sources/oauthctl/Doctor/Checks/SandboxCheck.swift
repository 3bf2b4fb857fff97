import AgentWire

/// What the sandbox around the running agent does, read from the kernel, not from unit files.
enum SandboxCheck {
  static func findings(_ context: DoctorContext) -> [Finding] {
    guard let status = context.status else { return [] }
    let machine = context.machine
    return aroundAgent(status, machine, context) + aroundFiles(machine)
  }

  /// The agent's programs restrict themselves; what they cannot do without the kernel's help is reported.
  private static func aroundFiles(_ machine: Machine) -> [Finding] {
    guard machine.landlockVersion == 0 else { return [] }
    return [
      .note(
        "sandbox",
        "this kernel has no Landlock: what talks to servers and browsers (oauthd-fetch, oauthd-redirect) could read your"
          + " files, and the agent change them",
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
      return findings + [.wrong("sandbox", "the unit's restrictions of system calls have no effect", repair)]
    }
    let files = machine.landlockVersion > 0 ? ", files that are not its own fenced off" : ""
    findings.append(.ok("sandbox", "system calls restricted\(files)"))
    return findings
  }

  private static func field(_ name: String, _ status: String) -> String? {
    for line in status.split(separator: "\n") where line.hasPrefix("\(name):") {
      return String(line.dropFirst(name.count + 1)).trimmed
    }
    return nil
  }
}
