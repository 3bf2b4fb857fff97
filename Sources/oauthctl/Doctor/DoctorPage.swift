import AgentWire

/// The report for people: a line for each finding, what to do below it, and a last line that sums up.
struct DoctorPage: Sendable {
  var report: DoctorReport

  func lines(_ terminal: Terminal) -> [String] {
    let names = report.findings.map { $0.account ?? $0.check }.map { PrintableText.escaped($0) }
    let width = names.reduce(0) { max($0, $1.count) }
    var lines: [String] = []
    for (finding, name) in zip(report.findings, names) {
      let word = terminal.paint(Self.word(finding.level), Self.color(finding.level))
      let blanks = String(repeating: " ", count: max(0, width - name.count) + 2)
      lines.append("\(word)  \(name)\(blanks)\(PrintableText.escaped(finding.message))")
      guard let fix = finding.fix else { continue }
      lines.append(String(repeating: " ", count: 7 + width + 2) + fix.shown)
    }
    let wrong = report.findings.count { $0.level == .wrong }
    let sum = wrong == 0 ? "Nothing is wrong" : "\(wrong) thing\(wrong == 1 ? " is" : "s are") wrong"
    lines.append(sum + (report.isVaultLocked ? ", but the vault is locked: accounts were not checked." : "."))
    return lines
  }

  /// Of one width.
  private static func word(_ level: Finding.Level) -> String {
    switch level {
    case .ok: "ok   "
    case .note: "note "
    case .wrong: "wrong"
    }
  }

  private static func color(_ level: Finding.Level) -> Terminal.Color {
    switch level {
    case .ok: .green
    case .note: .yellow
    case .wrong: .red
    }
  }
}
