import AgentWire

/// One fault that several accounts have is one finding, which names them: a server that is down, a login that others get
/// their tokens by, a folder that is gone.
enum SharedFault {
  static func merged(_ findings: [Finding]) -> [Finding] {
    var merged: [[Finding]] = []
    var places: [String: Int] = [:]
    for finding in findings {
      guard let key = key(finding) else {
        merged.append([finding])
        continue
      }
      if let place = places[key] {
        merged[place].append(finding)
      } else {
        places[key] = merged.count
        merged.append([finding])
      }
    }
    return merged.compactMap { $0.count == 1 ? $0.first : one($0) }
  }

  /// What is the same for all findings of one fault; nil: nothing is wrong.
  private static func key(_ finding: Finding) -> String? {
    guard finding.level != .ok, finding.account != nil else { return nil }
    if let fault = finding.fault { return fault }
    // What one command mends is one fault: a login that others get their tokens by.
    if ["login", "client"].contains(finding.check), case .run(let command)? = finding.fix { return "run\n\(command)" }
    return [finding.check, finding.level.rawValue, finding.message, finding.fix?.text ?? ""].joined(separator: "\n")
  }

  private static func one(_ findings: [Finding]) -> Finding? {
    let worst = findings.first { $0.level == .wrong } ?? findings.first
    let ownLogin = findings.first { finding in
      finding.account.map { finding.fix == .run("oauthctl login \($0)") } ?? false
    }
    guard let worst, var finding = ownLogin ?? findings.first else { return nil }
    finding.level = worst.level
    var names: [String] = []
    for case let name? in findings.map(\.account) where !names.contains(name) { names.append(name) }
    guard names.count > 1 else { return worst }
    finding.accounts = names
    // A login of its own is the account's fault, and the others lack what it gives.
    if ownLogin == nil { finding.account = nil }
    finding.message += ", which concerns " + NameList.text(names.filter { $0 != finding.account })
    return finding
  }
}
