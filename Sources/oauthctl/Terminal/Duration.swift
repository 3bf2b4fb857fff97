/// Times as people say them.
enum Duration {
  /// Two units at most, the second only when it counts: `2 h`, `1 h 59 min`, `45 s`, `3 d 4 h`. Below zero reads as
  /// `0 s`.
  static func text(seconds: Int) -> String {
    let seconds = max(0, seconds)
    let units = [("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)]
    guard let first = units.firstIndex(where: { seconds >= $0.1 }) else { return "0 s" }
    var text = "\(seconds / units[first].1) \(units[first].0)"
    let next = first + 1
    guard next < units.count else { return text }
    let rest = seconds % units[first].1 / units[next].1
    // Seconds beside minutes are noise, except in the last ten minutes.
    if rest > 0, units[next].0 != "s" || seconds < 600 { text += " \(rest) \(units[next].0)" }
    return text
  }
}
