import AgentWire

/// The logins whose files are gone, those together of which the same is told: a folder that is gone takes all of its files.
struct GoneFiles: Sendable {
  struct Group: Sendable {
    var names: [String]
    var reason: String
    var step: NextStep?
  }

  private(set) var groups: [Group] = []
  private var firsts: [String: Int] = [:]

  init(_ accounts: [AccountSummary]) {
    var places: [String: Int] = [:]
    for account in accounts where account.fileGone == true {
      let reason = account.reason ?? "its file is gone"
      let key = reason + "\n" + (account.hint ?? "")
      if let place = places[key] {
        groups[place].names.append(account.account)
      } else {
        places[key] = groups.count
        firsts[account.account] = groups.count
        groups.append(Group(names: [account.account], reason: reason, step: account.nextStep))
      }
    }
  }

  /// The group that `account` is the first of; nil: it is told with another one.
  func group(begunBy account: String) -> Group? { firsts[account].map { groups[$0] } }
}
