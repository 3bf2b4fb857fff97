import AgentWire
import SystemFacts

/// Where the agent's socket is, and whether it is the user's alone.
enum SocketCheck {
  static func finding(_ context: DoctorContext) -> Finding {
    let machine = context.machine
    let location: SocketLocation
    do {
      location = try SocketLocation.resolve(
        variable: { context.environment.raw($0) }, uid: machine.userID, status: machine.status)
    } catch {
      return .wrong("socket", error.message, error.hint)
    }
    if let named = SocketLocation.openRuntimeFolder(
      variable: { context.environment.raw($0) }, uid: machine.userID, status: machine.status)
    {
      return .wrong(
        "socket", "XDG_RUNTIME_DIR (\(context.shown(named))) may be written by others, so it is passed over",
        .run("chmod 700 \(context.quoted(named))"))
    }
    let shown = context.shown(location.path)
    guard let folder = machine.status(location.directory) else {
      let above = FileBytes.folder(of: location.directory)
      if let found = machine.status(above), found.owner == machine.userID, found.mode & 0o700 != 0o700 {
        return .wrong(
          "socket", "\(context.shown(above)) \(ClosedPath.reason(mode: found.mode))",
          .run("chmod 700 \(context.quoted(above))"))
      }
      return location.source == .environment
        ? .wrong(
          "socket", "OAUTHCTL_SOCKET names \(shown), whose folder is not there", .run("unset OAUTHCTL_SOCKET"))
        : .ok("socket", "\(shown), made when the agent starts")
    }
    if let problem = location.problem(ofDirectory: folder, uid: machine.userID) {
      return .wrong("socket", "\(context.shown(location.directory)) \(problem)", fix(folder, location, context))
    }
    if folder.owner == machine.userID, folder.mode & 0o700 != 0o700 {
      return .wrong(
        "socket", "\(context.shown(location.directory)) \(ClosedPath.reason(mode: folder.mode))",
        .run("chmod 700 \(context.quoted(location.directory))"))
    }
    guard let file = machine.status(location.path) else {
      return location.source == .environment
        ? .wrong("socket", "OAUTHCTL_SOCKET names \(shown), which is not there", .run("unset OAUTHCTL_SOCKET"))
        : .ok("socket", "\(shown), made when the agent starts")
    }
    if file.kind != .socket {
      return .wrong("socket", "\(shown) is not a socket", .run("rm \(context.quoted(location.path))"))
    }
    if file.owner != machine.userID {
      return .wrong(
        "socket", "\(shown) belongs to another user (uid \(file.owner))", .advice("have it removed by its owner"))
    }
    if file.mode & 0o077 != 0 {
      return .wrong(
        "socket", "\(shown) is open to others (mode \(FileMode.digits(file.mode)))",
        .run("chmod 600 \(context.quoted(location.path))"))
    }
    if file.mode & 0o600 != 0o600 {
      return .wrong(
        "socket", "\(shown) \(ClosedPath.reason(mode: file.mode))",
        .run("chmod 600 \(context.quoted(location.path))"))
    }
    if location.source == .temporary {
      return .note(
        "socket", "\(shown), because you have no XDG_RUNTIME_DIR",
        .advice("log in with a session that has one (pam_systemd), or leave it so"))
    }
    return .ok("socket", "\(shown), yours alone")
  }

  private static func fix(
    _ folder: SocketLocation.FileStatus, _ location: SocketLocation, _ context: DoctorContext
  ) -> NextStep {
    // Whatever it names may be everybody's, as /tmp is.
    if location.source == .environment {
      return .run("unset OAUTHCTL_SOCKET   # or set it to a socket in a folder of yours alone")
    }
    return folder.kind == .directory && folder.owner == context.machine.userID
      ? .run("chmod 700 \(context.quoted(location.directory))")
      : .advice("move it out of the way; the agent makes its own")
  }
}
