import AgentWire

/// What changed between two looks at the agent, a line each: for logs and pipes, where nothing can be redrawn.
struct StatusChanges: Sendable {
  /// What is told of an account; time alone changes none of it.
  private struct Told: Equatable {
    var state: AccountSummary.State
    var reason: String?
    var expiresAt: Int?
  }

  private var agent: String?
  private var accounts: [String: Told] = [:]

  /// The lines for a look at `now` (Unix time); a failure is an agent that does not answer. The first look tells all.
  mutating func lines(_ look: Result<AgentStatusAnswer, CommandError>, now: Int) -> [String] {
    var lines: [String] = []
    switch look {
    case .failure(let error):
      note(&lines, error.sentence ?? "the agent does not answer")
    case .success(let status):
      let page = StatusPage(status: status, accounts: status.accounts, now: now)
      note(&lines, page.agentLine)
      var seen: [String: Told] = [:]
      for account in status.accounts {
        let told = Told(state: account.state, reason: account.reason, expiresAt: account.expiresAt)
        seen[account.account] = told
        guard accounts[account.account] != told else { continue }
        lines.append(line(account, before: accounts[account.account], now))
      }
      for name in accounts.keys.sorted() where seen[name] == nil { lines.append("\(name) forgotten") }
      accounts = seen
    }
    return lines.map { Self.time(now) + " " + PrintableText.escaped($0) }
  }

  private mutating func note(_ lines: inout [String], _ words: String) {
    if agent != words { lines.append(words.hasPrefix("agent ") ? words : "agent    " + words) }
    agent = words
  }

  private func line(_ account: AccountSummary, before: Told?, _ now: Int) -> String {
    var line = "\(account.account) \(StatusPage.word(account))"
    if account.state == .ok {
      if let end = account.expiresAt {
        let isRenewed = before?.state == .ok || before?.state == .refreshing
        line += "\(isRenewed ? ", renewed" : "") for \(Duration.text(seconds: end - now))"
      }
    } else if let reason = account.reason {
      line += ": \(reason)"
    }
    return line
  }

  /// RFC 3339 in UTC, to the second.
  static func time(_ unix: Int) -> String {
    let days = unix / 86_400 - (unix % 86_400 < 0 ? 1 : 0)
    let seconds = unix - days * 86_400
    // Days are counted from 1 March of year 0, so that a leap day is the last of its year.
    let shifted = days + 719_468
    let era = shifted / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * month + 2) / 5 + 1
    let calendarMonth = month < 10 ? month + 3 : month - 9
    let year = yearOfEra + era * 400 + (calendarMonth <= 2 ? 1 : 0)
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(year)-\(two(calendarMonth))-\(two(day))T"
      + "\(two(seconds / 3_600)):\(two(seconds % 3_600 / 60)):\(two(seconds % 60))Z"
  }
}
