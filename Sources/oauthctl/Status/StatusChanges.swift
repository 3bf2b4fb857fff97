import AgentWire
import HTTPTerms

/// What changed between two looks at the agent, a line each: for logs and pipes, where nothing can be redrawn.
struct StatusChanges: Sendable {
  /// What is said about an account; time alone does not change it.
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
      note(&lines, page.agentWords)
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
    return lines.map { CivilTime(unixSeconds: now).rfc3339 + " " + PrintableText.escaped($0) }
  }

  private mutating func note(_ lines: inout [String], _ words: String) {
    if agent != words { lines.append(StatusPage.agentLine(words)) }
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
}
