package import AgentWire
package import SystemFacts

/// Whether this process may start an agent, and what it hands down. Pure.
package enum StartPolicy {
  /// Why none may be started, with the next step; nil: one may.
  ///
  /// An agent serves the user whose files it reads: it is never started for a socket that was named (that one is used or
  /// fails), with borrowed rights, over the home of another, or where others could exchange its files.
  package static func refusal(
    source: SocketLocation.Source, environment: [String: String], realUID: UInt32, effectiveUID: UInt32,
    home: SocketLocation.FileStatus?, fault: (String) -> FolderTrust.WayFault?
  ) -> (reason: String, hint: NextStep)? {
    if source == .environment {
      return (
        "OAUTHCTL_SOCKET names the agent",
        "start the agent behind it, or unset OAUTHCTL_SOCKET"
      )
    }
    if realUID != effectiveUID {
      return ("this program runs with the rights of another user", "run oauthctl as yourself, without set-user-ID")
    }
    guard let path = environment["HOME"], path.utf8.first == UInt8(ascii: "/") else {
      return ("HOME is not set", "set HOME to your home directory")
    }
    if let name = BaseFolder.unreadableVariable(in: environment) {
      return ("\(name) is not UTF-8", "set \(name) to another folder, or unset it")
    }
    guard let home, home.kind == .directory else {
      return ("HOME is not a directory: \(PrintableText.escaped(path))", "set HOME to your home directory")
    }
    if let refusal = othersHome(path, home, isSudo: environment["SUDO_UID"] != nil, effectiveUID: effectiveUID) {
      return refusal
    }
    return BaseFolder.refusal(in: environment, home: path, fault: fault)
      .map { (PrintableText.escaped($0.reason), $0.isCommand ? .run($0.hint) : .advice($0.hint)) }
  }

  /// Why nothing is done for the user of a home at `path`; nil: it is the user's own, or none.
  package static func othersHome(
    _ path: String, _ home: SocketLocation.FileStatus?, isSudo: Bool, effectiveUID: UInt32
  ) -> (reason: String, hint: NextStep)? {
    guard let home, home.owner != effectiveUID else { return nil }
    return (
      "HOME belongs to another user: \(PrintableText.escaped(path))",
      isSudo ? "run it without sudo, or with sudo -H" : "set HOME to your own"
    )
  }

  /// The variables an agent gets, sorted: what it needs to find its files and speak the user's language. What else the
  /// starter has (tokens, proxies, LD_*, GIT_*) stays with the starter.
  package static func inherited(_ environment: [String: String]) -> [String] {
    let names: Set<String> = [
      "HOME", "USER", "LOGNAME", "LANG", "TZ", "DBUS_SESSION_BUS_ADDRESS", "SSL_CERT_FILE", "SSL_CERT_DIR",
    ]
    return environment.filter { name, _ in names.contains(name) || name.hasPrefix("LC_") || name.hasPrefix("XDG_") }
      .map { "\($0.key)=\($0.value)" }.sorted()
  }

  /// Where a unit file of the user manager may stand (systemd.unit(5)). The manager has seldom the variables that a shell
  /// has, so its usual folders count beside those that they name.
  package static func unitFolders(_ environment: [String: String]) -> [String] {
    func folders(_ kind: BaseFolder) -> [String] {
      let paths = [environment[kind.variable], nil].compactMap { kind.path(value: $0, home: environment["HOME"]) }
      return (paths.first == paths.last ? [paths.last].compactMap(\.self) : paths).map { "\($0)/systemd/user" }
    }
    return folders(.configuration) + ["/etc/systemd/user"]
      + (environment["XDG_RUNTIME_DIR"].map { ["\($0)/systemd/user"] } ?? []) + folders(.data)
      + ["/usr/local/lib/systemd/user", "/usr/lib/systemd/user", "/lib/systemd/user"]
  }
}
