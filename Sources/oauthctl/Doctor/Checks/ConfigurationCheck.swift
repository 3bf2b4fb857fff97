import AgentWire
import Glibc
import SystemFacts

/// The configuration files: that nobody else may write them, what the agent says about them, and a proxy that the shell
/// has and the agent does not.
enum ConfigurationCheck {
  static func findings(_ context: DoctorContext) -> [Finding] {
    guard let folder = context.environment.folder(.configuration) else {
      return [.wrong("configuration", "HOME is not set, so there is no place for files", .run("export HOME=…"))]
    }
    let machine = context.machine
    let accounts = machine.names("\(folder)/accounts.d").filter { $0.hasSuffix(".toml") }
    let files =
      [folder, "\(folder)/config.toml", "\(folder)/accounts.d"] + accounts.map { "\(folder)/accounts.d/\($0)" }
    var findings: [Finding] = []
    // A folder that may not be read has no names.
    let concerned = max(accounts.count, context.accounts.count)
    // One fault is told once, whatever the agent says of it as well.
    var told: Set<String> = []
    for path in files {
      guard let found = machine.followedStatus(path) else { continue }
      let isFolder = path == folder || path.hasSuffix("/accounts.d")
      let least: UInt32 = isFolder ? 0o500 : 0o400
      let whom = isFolder && concerned > 1 ? ", which concerns \(concerned) accounts" : ""
      if found.mode & 0o022 != 0 {
        findings.append(
          .wrong(
            "configuration", "\(context.shown(path)) may be written by others\(whom)",
            .run("chmod go-w \(context.quoted(path))")))
      } else if found.owner == machine.userID, found.mode & least != least {
        findings.append(
          .wrong(
            "configuration",
            "\(context.shown(path)): the \(isFolder ? "folder" : "file") \(ClosedPath.reason(mode: found.mode))\(whom)",
            .run(ClosedPath.remedy(context.quoted(path), isFolder: isFolder))))
      } else {
        continue
      }
      told.insert(path)
    }
    if let place = context.closedFolder, !told.contains(place.path) {
      findings.append(
        .wrong(
          "configuration", "\(context.shown("\(folder)/accounts.d")): the folder \(place.reason)",
          .run(place.remedy(isFolder: true))))
      told.insert(place.path)
    }
    // Tokens are served all the same; no account is made or changed.
    let folders = [folder, "\(folder)/accounts.d"].filter { !told.contains($0) }
    let closed = folders.first { path in
      context.machine.followedStatus(path).map { $0.owner == machine.userID && $0.mode & 0o200 == 0 } ?? false
    }
    if let path = folders.first(where: { machine.followedStatus($0) != nil && machine.isReadOnly($0) }) {
      findings.append(
        .note(
          "configuration",
          "\(context.shown(path)) is on a file system that is mounted read-only: no account can be made or changed",
          FileBytes.writableAgain(path)))
    } else if let path = closed {
      findings.append(
        .note(
          "configuration", "you may not write in \(context.shown(path)): no account can be made or changed",
          FileBytes.writing(in: path, failed: EACCES, owner: machine.userID, user: machine.userID)))
    }
    findings += parents(context)
    let place = AgentFolders(context.environment, context.status)
    if let remark = place.remark, let remedy = place.remedy {
      findings.append(.wrong("configuration", remark, remedy))
    }
    let others = (context.status?.problems ?? []).filter { problem in
      !told.contains { problem.file == $0 || problem.file.hasPrefix($0 + "/") }
    }
    let problems = ProblemText(others, leftOut: context.status?.problemsLeftOut)
    for problem in problems.shown {
      findings.append(.wrong("configuration", problem.sentence, problem.nextStep))
    }
    if let more = problems.more { findings.append(.wrong("configuration", more, ConfigurationProblem.edit)) }
    if findings.isEmpty {
      let count = accounts.count
      let gone = context.accounts.count { $0.fileGone == true }
      let none =
        gone == 0 ? "no account files yet" : "no account files; \(gone) login\(gone == 1 ? " is" : "s are") kept"
      let some = "\(count) account file\(count == 1 ? "" : "s"), yours alone"
      findings = [.ok("configuration", count == 0 ? none : some)]
    }
    return findings + proxy(folder, context) + [authorities(folder, context)]
  }

  /// The folders above: who may write there puts another folder in the place of ours.
  private static func parents(_ context: DoctorContext) -> [Finding] {
    var paths = [context.environment.home].compactMap(\.self)
    for kind in AgentFolders.Kind.allCases {
      guard let folder = context.environment.folder(kind) else { continue }
      if case let parent = FileBytes.folder(of: folder), !paths.contains(parent) { paths.append(parent) }
    }
    return paths.compactMap { path in
      // Where names are protected (sticky), as in /tmp, others cannot.
      guard let found = context.machine.followedStatus(path), found.mode & 0o1002 == 0o002 else { return nil }
      let isOwn = found.owner == context.machine.userID
      let step = NextStep.run(FileMode.keepingOthersOut(of: context.quoted(path), isOwn: isOwn))
      // The agent has told it of the files below.
      if (context.status?.problems ?? []).contains(where: { $0.nextStep == step }) { return nil }
      return .wrong(
        "configuration", "\(context.shown(path)) may be written by everybody, so others may replace what is in it", step
      )
    }
  }

  private static func proxy(_ folder: String, _ context: DoctorContext) -> [Finding] {
    guard let shell = ProxyVariables(context.environment) else { return [] }
    guard !names("proxy", folder, context) else { return [.ok("proxy", "config.toml names one")] }
    return [
      .note(
        "proxy", "this shell has one\(shell.place.map { " (\($0))" } ?? ""), which the agent ignores",
        .run("oauthctl setup proxy"))
    ]
  }

  /// Whether config.toml has a line for `key`.
  private static func names(_ key: String, _ folder: String, _ context: DoctorContext) -> Bool {
    FileLines.shown(context.machine.text("\(folder)/config.toml") ?? "").contains { $0.hasPrefix(key) }
  }

  /// Where distributions keep the certificates that curl trusts.
  static let authorityFiles = [
    "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
  ]

  private static func authorities(_ folder: String, _ context: DoctorContext) -> Finding {
    if names("ca_file", folder, context) {
      return .note(
        "certificates",
        "accounts without a ca_file of their own trust the authority that config.toml names, and not the system's")
    }
    return authorityFiles.contains { context.machine.followedStatus($0) != nil }
      ? .ok("certificates", "the system's authorities are there")
      : .wrong(
        "certificates", "the system has no certificate authorities: no https server can be trusted",
        .run("apt install ca-certificates"))
  }
}
