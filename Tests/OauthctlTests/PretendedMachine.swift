import AgentWire

@testable import SystemFacts
@testable import oauthctl

/// A machine made of a few files, where all is well until a test changes something.
struct PretendedMachine {
  typealias File = (kind: SocketLocation.FileStatus.Kind, owner: UInt32, mode: UInt32, text: String)

  var files: [String: File] = [
    "/run/user/7": (.directory, 7, 0o700, ""), "/run/user/7/oauthctl": (.directory, 7, 0o700, ""),
    "/run/user/7/oauthctl/agent.sock": (.socket, 7, 0o600, ""), "/run/systemd/system": (.directory, 0, 0o755, ""),
    "/opt/bin/oauthctl": (.other, 0, 0o755, ""), "/opt/bin/oauthd": (.other, 0, 0o755, ""),
    "/opt/bin/oauthd-fetch": (.other, 0, 0o755, ""), "/opt/bin/oauthd-redirect": (.other, 0, 0o755, ""),
    "/": (.directory, 0, 0o755, ""), "/usr": (.directory, 0, 0o755, ""), "/usr/bin": (.directory, 0, 0o755, ""),
    "/usr/bin/git": (.other, 0, 0o755, ""),
    "/usr/bin/curl": (.other, 0, 0o755, ""), "/usr/bin/xdg-open": (.other, 0, 0o755, ""),
    "/home/u/.local/share/systemd/user/oauthd.socket": (.other, 7, 0o644, "[Socket]"),
    "/home/u/.local/share/systemd/user/oauthd.service": (.other, 7, 0o644, "[Service]\nExecStart=/opt/bin/oauthd\n"),
    "/home/u/.config/systemd/user/sockets.target.wants/oauthd.socket": (.symbolicLink, 7, 0o777, "[Socket]"),
    "/var/lib/systemd/linger/u": (.other, 0, 0o644, ""), "/proc/44": (.directory, 7, 0o555, ""),
    "/proc/44/status": (.other, 0, 0o444, "NoNewPrivs:\t1\nSeccomp:\t2\n"),
    "/home/u/.local/share/oauthctl": (.directory, 7, 0o700, ""),
    "/home/u/.local/share/oauthctl/vault.db": (.other, 7, 0o600, ""),
    "/home/u/.local/state/oauthctl/vault.key": (.other, 7, 0o600, ""),
    "/home/u/.config/oauthctl": (.directory, 7, 0o755, ""),
    "/home/u/.config/oauthctl/accounts.d": (.directory, 7, 0o755, ""),
    "/home/u/.config/oauthctl/accounts.d/work.toml": (
      .other, 7, 0o644, "issuer = \"https://h\"\nredirect_uri = \"http://127.0.0.1:8914/cb\"\n"
    ),
    "/etc/ssl/certs/ca-certificates.crt": (.other, 0, 0o644, "-----BEGIN"),
  ]
  var now = 1_790_000_000
  var clockIsSynchronized: Bool? = true
  var landlockVersion = 7
  var userID: UInt32 = 7
  var takenPorts: Set<Int> = []
  var lockedFiles: Set<String> = []
  var freeBytes = 1 << 30
  /// Of folders on a file system of their own.
  var freeBytesIn: [String: Int] = [:]
  var readOnlyFolders: Set<String> = []
  var isNetworkFileSystem = false
  var agentChangedAt = 0
  /// What git says of http.sslCAInfo.
  var gitAuthority = "/copy.pem"
  /// What git says of http.sslCAPath.
  var gitAuthorityFolder = "/dev/null"
  /// What systemctl says of the agent's unit.
  var unit = "ActiveState=active\nResult=success\n"
  /// What git answers to everything instead.
  var gitFailure: Program.Output?
  var gitHelpers = "credential.https://h.helper\n/opt/bin/git-credential-oauthctl\0"

  var machine: Machine {
    let files = files
    @Sendable func status(_ path: String) -> SocketLocation.FileStatus? {
      files[path].map { SocketLocation.FileStatus(kind: $0.kind, owner: $0.owner, mode: $0.mode) }
    }
    return Machine(
      userID: userID, now: now, clockIsSynchronized: clockIsSynchronized, landlockVersion: landlockVersion,
      program: "/opt/bin/oauthctl", status: status, followedStatus: status,
      realPath: { files[$0] == nil ? nil : $0 }, changedAt: { [agentChangedAt] _ in agentChangedAt },
      text: { files[$0]?.text },
      names: { folder in
        files.keys.filter { FileBytes.folder(of: $0) == folder }.map { FileBytes.name(of: $0) }.sorted()
      },
      isExecutable: { files[$0].map { $0.mode & 0o111 != 0 } ?? ($0 == "/opt/bin/git-credential-oauthctl") },
      isPortFree: { [takenPorts] in !takenPorts.contains($0) }, isLocked: { [lockedFiles] in lockedFiles.contains($0) },
      freeBytes: { [freeBytes, freeBytesIn] in freeBytesIn[$0] ?? freeBytes },
      isReadOnly: { [readOnlyFolders] in readOnlyFolders.contains($0) },
      isNetworkFileSystem: { [isNetworkFileSystem] _ in isNetworkFileSystem },
      output: { [gitHelpers, gitAuthority, gitAuthorityFolder, gitFailure, unit] in
        if $0.first == "systemctl" { return Program.Output(status: 0, text: unit) }
        let known = ["http.sslCAInfo": gitAuthority, "http.sslCAPath": gitAuthorityFolder]
        return gitFailure
          ?? Program.Output(status: 0, text: $0.lazy.compactMap { known[$0] }.first ?? gitHelpers)
      },
      closedPlace: { path in
        files[path].flatMap { found in
          found.mode & 0o400 == 0 ? ClosedPath.Place(path: path, mode: found.mode, isAbove: false) : nil
        }
      })
  }
}

/// What the agent says; all is well until a test changes something.
struct PretendedAgent: Sendable {
  var hello = AgentHelloAnswer(protocol: 1, capabilities: [], agentVersion: ProjectVersion.current)
  var account = AccountSummary(
    account: "work", accountID: "0", state: .ok, reason: nil, issuer: "https://h", host: "h", hosts: ["h"],
    clientID: "c", grant: "authorization_code", scope: [], expiresAt: nil, expiresInSeconds: 60, loginExpiresAt: nil,
    renewable: true)
  var status = AgentStatusAnswer(
    pid: 44, agentVersion: ProjectVersion.current, started: "systemd", startedAt: 1_000,
    vault: VaultStatusAnswer(
      state: .open, slots: ["key_file", "recovery_code"], path: "/home/u/.local/share/oauthctl"),
    degraded: [], problems: [], counts: [:], accounts: [], next: nil)
  var check = AccountCheckAnswer(problems: [], discovery: "OAuth metadata")
  var serverFailure: AgentFailure?
  var absence: CommandError?

  @Sendable func answer(_ parameters: any RequestParameters) throws(CommandError) -> any Sendable {
    if let absence { throw absence }
    switch parameters {
    case is AgentHello: return hello
    case is AgentStatus: return status
    case is AccountList: return AccountPage(accounts: [account], next: nil)
    case is AccountCheck:
      if let serverFailure { throw .agent(serverFailure, account: nil) }
      return check
    default: throw .silent(status: 1)
    }
  }
}
