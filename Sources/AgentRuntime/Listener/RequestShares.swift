import AgentWire

/// Requests that all connections of a table have under way, and who is next. Used on its loop only.
///
/// Each connection may always have a few. Beyond those it takes from what all have in common, as long as there is some;
/// else its next request is held back, with everything behind it, until others have ended. Connections are let go on in
/// the order they came, each with one request, so that nobody's queue delays another's.
final class RequestShares {
  /// Kinds of requests, by what they cost while they are answered.
  enum Kind: Int, CaseIterable {
    /// Waits for a token: little memory, and no thread.
    case token
    /// A list of accounts: a large answer, and a processor while it is made.
    case listing
    /// Everything else: a task, which may wait for a server, a disk or a person.
    case other

    init(_ method: Method) {
      switch method {
      case .tokenGet: self = .token
      case .agentStatus, .accountList: self = .listing
      case .agentHello, .tokenReject, .tokenID, .dpopProof, .loginStart, .loginWait, .loginComplete, .loginConfirm,
        .loginCancel, .serverFind,
        .clientRegister, .providerList, .providerShow, .accountCheck, .accountShow, .accountForget, .accountAccept,
        .accountImport, .configReload, .secretSet, .secretForget, .keySet, .logout, .vaultStatus, .vaultCreate,
        .vaultLock, .vaultUnlock, .vaultSlots, .vaultSetSlot, .vaultRemoveSlot, .vaultRekey, .vaultBackup, .vaultCheck,
        .vaultConfirmCode, .vaultAcceptRollback, .eventsSubscribe:
        self = .other
      }
    }
  }

  /// How many of a kind may be under way.
  struct Bound {
    /// Of one connection, whatever others have.
    var each: Int
    /// Of all together, beyond which nobody gets more than `each`.
    var all: Int
  }

  private let bounds: [Bound]
  /// Those that are open, at most: what others began that have left counts against their own shares too.
  private let connections: Int
  private var running: [Int]
  private var lines: [[CallerConnection]]

  init(_ limits: ListenerLimits) {
    bounds = [limits.tokenRequests, limits.listings, limits.otherRequests]
    connections = limits.connections
    running = bounds.map { _ in 0 }
    lines = bounds.map { _ in [] }
  }

  func running(_ kind: Kind) -> Int { running[kind.rawValue] }

  /// Whether a connection that has `count` of them under way may begin another, which it then has. Whoever comes while
  /// others stand in line is behind them, unless it has its turn (`isNext`).
  func begin(_ kind: Kind, having count: Int, isNext: Bool) -> Bool {
    let bound = bounds[kind.rawValue]
    let isOwn = count < bound.each && running(kind) < bound.all + bound.each * connections
    guard isOwn || running(kind) < bound.all && (isNext || lines[kind.rawValue].isEmpty) else { return false }
    running[kind.rawValue] += 1
    return true
  }

  /// ``CallerConnection/takeTurn(_:)`` is called when its turn has come.
  func standInLine(_ connection: CallerConnection, for kind: Kind) { lines[kind.rawValue].append(connection) }

  func end(_ kind: Kind) {
    running[kind.rawValue] -= 1
    letGoOn(kind)
  }

  /// Lets those go on for whom there is room now.
  func letGoOn(_ kind: Kind) {
    while running(kind) < bounds[kind.rawValue].all, let next = lines[kind.rawValue].first {
      // Whatever it has behind this one stands at the end of the line again.
      lines[kind.rawValue].removeFirst()
      guard next.takeTurn(kind) else { return lines[kind.rawValue].insert(next, at: 0) }
    }
  }
}
