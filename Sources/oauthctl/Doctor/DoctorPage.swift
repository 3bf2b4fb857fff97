import AgentWire

/// The report for people: a line for each finding, what to do below it, and a last line that sums up.
struct DoctorPage: Sendable {
  var report: DoctorReport

  func lines(_ terminal: Terminal) -> [String] {
    let names = report.findings.map { $0.account ?? $0.check }.map { PrintableText.escaped($0) }
    let width = names.reduce(0) { max($0, $1.count) }
    let columns = terminal.outputIsTerminal ? terminal.columns : nil
    let margin = 7 + width + 2
    var lines: [String] = []
    for (finding, name) in zip(report.findings, names) {
      let word = terminal.paint(Self.word(finding.level), Self.color(finding.level))
      let blanks = String(repeating: " ", count: max(0, width - name.count) + 2)
      let message = terminal.visible(finding.message, limit: .max)
      lines += ScreenRows.rows("\(word)  \(name)\(blanks)", width: margin, message, columns: columns)
      guard let fix = finding.fix else { continue }
      let label = String(repeating: " ", count: margin)
      switch fix {
      case .run: lines.append(label + fix.shown)
      case .advice: lines += ScreenRows.rows(label, width: margin, fix.shown, columns: columns)
      }
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
