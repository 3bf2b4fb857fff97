import AgentWire

/// The accounts as their files define them, for a vault that is shut.
struct LockedList {
  /// A list stays good for this many times as long as it took to read. So however many files there are and callers ask,
  /// the agent reads for a small part of its time only.
  private static let restFactor = 10.0

  /// In the order of their cursors.
  private let summaries: [AccountSummary]
  private let reason: String
  /// Boot seconds.
  private let end: Double

  /// Read from boot second `began` to `ended`.
  init(_ summaries: [AccountSummary], reason: String, began: Double, ended: Double) {
    self.summaries = summaries.sorted { Self.cursor($0) < Self.cursor($1) }
    self.reason = reason
    end = ended + Self.restFactor * (ended - began)
  }

  /// Whether it answers who asks at boot second `now`, while the vault is shut for `reason`.
  func isGood(for reason: String, at now: Double) -> Bool { self.reason == reason && end > now }

  /// At most `size` accounts behind the cursor `after`, as `account.list` gives them.
  func page(size: Int, after: String?) -> AccountPage {
    let first = after.map { after in summaries.firstPlace { Self.cursor($0) > after } } ?? 0
    let page = summaries[first...].prefix(size)
    return AccountPage(
      accounts: Array(page), next: page.endIndex == summaries.endIndex ? nil : page.last.map(Self.cursor))
  }

  private static func cursor(_ one: AccountSummary) -> String { "\(AccountIndex.rank(one.state)):\(one.account)" }
}
