import AgentClient
import AgentWire
import SystemFacts

/// The agent that holds the vault, as it has written into the file whose lock it holds (docs/vault-format.md).
struct VaultHolder: Sendable, Equatable {
  /// Nil when the file does not say, or when that process cannot be seen from here.
  var processID: Int?
  var socket: String?

  /// Nil when nobody holds the vault in this folder.
  init?(of folder: String, _ machine: Machine) {
    let file = "\(folder)/vault.lock"
    guard machine.isLocked(file) else { return nil }
    for line in (machine.text(file) ?? "").split(separator: "\n") {
      if line.hasPrefix("pid "), let number = Int(line.dropFirst(4)), number > 0,
        machine.text("/proc/\(number)/comm") == "oauthd\n"
      {
        processID = number
      }
      if line.hasPrefix("socket ") { socket = String(line.dropFirst(7)) }
    }
  }

  /// The finding when this shell's agent does not run, or is not the one that holds the vault.
  static func finding(in folder: String, reason: String?, _ context: DoctorContext) -> Finding? {
    guard let holder = VaultHolder(of: folder, context.machine) else { return nil }
    if let own = context.status?.pid, own == holder.processID {
      return .wrong(
        "vault", "another program has the vault's database open",
        .run("fuser -v \(context.quoted(folder + "/vault.db"))"))
    }
    // That agent hangs, or is about to go, and its own finding says so.
    if context.status == nil, holder.socket == ownSocket(context) { return nil }
    let names = [holder.processID.map { "pid \($0)" }, holder.socket.map { "socket \($0)" }].compactMap(\.self)
    let who = names.isEmpty ? "" : " (\(names.joined(separator: ", ")))"
    let words = reason ?? "it is held by another agent\(who), which this shell does not ask"
    // This shell asks another agent because of that, and the finding about it says what helps.
    if SocketCheck.finding(context).level == .wrong { return .note("vault", "\(words): see its socket") }
    return .wrong(
      "vault", words,
      holder.wayThere(context) ?? holder.processID.map { .run("kill \($0) && oauthctl status") }
        ?? .advice("end the other agent where it runs; it cannot be seen from here (a container, another machine?)"))
  }

  /// The line that ends the agent of this shell, which does not answer and so does not say which process it is; nil: its
  /// vault does not say it either.
  static func remedyOfOwnAgent(_ context: DoctorContext) -> NextStep? {
    guard let folder = context.environment.folder(.data), let holder = VaultHolder(of: folder, context.machine),
      holder.socket == ownSocket(context), let process = holder.processID.flatMap({ Int32(exactly: $0) })
    else { return nil }
    return ClientError.remedy(ofHung: process)
  }

  /// The line that has this shell use the agent, where its socket is to be seen; nil: it is not.
  private func wayThere(_ context: DoctorContext) -> NextStep? {
    guard let socket, let found = context.machine.status(socket), found.kind == .socket,
      found.owner == context.machine.userID
    else { return nil }
    return .run(SocketLocation.export(socket) + (processID.map { "   # or, to end that agent: kill \($0)" } ?? ""))
  }

  private static func ownSocket(_ context: DoctorContext) -> String? {
    let location = try? SocketLocation.resolve(
      variable: { context.environment.raw($0) }, uid: context.machine.userID, status: context.machine.status)
    return location?.path
  }
}
