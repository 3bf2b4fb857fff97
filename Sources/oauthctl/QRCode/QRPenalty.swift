/// How hard a masked QR code is to read (ISO/IEC 18004 §7.8.3): the mask with the fewest points is taken.
enum QRPenalty {
  static func points(of modules: [Bool], size: Int) -> Int {
    let rows = (0..<size).map { row in Array(modules[row * size..<(row + 1) * size]) }
    let columns = (0..<size).map { column in (0..<size).map { modules[$0 * size + column] } }
    let lines = (rows + columns).reduce(0) { $0 + runs(in: $1) + likeFinders(in: $1) }
    return lines + squares(rows, size) + imbalance(modules)
  }

  /// Five or more alike in a line.
  private static func runs(in line: [Bool]) -> Int {
    var points = 0
    var length = 0
    for (place, module) in line.enumerated() {
      length = place > 0 && line[place - 1] == module ? length + 1 : 1
      if length == 5 { points += 3 } else if length > 5 { points += 1 }
    }
    return points
  }

  private static let finders: [[Bool]] = [
    [true, false, true, true, true, false, true, false, false, false, false],
    [false, false, false, false, true, false, true, true, true, false, true],
  ]

  /// What looks like a finder with light beside it.
  private static func likeFinders(in line: [Bool]) -> Int {
    (0...line.count - 11).reduce(0) { points, start in
      points + finders.count { line[start..<start + 11].elementsEqual($0) } * 40
    }
  }

  /// Two by two alike.
  private static func squares(_ rows: [[Bool]], _ size: Int) -> Int {
    var points = 0
    for row in 1..<size {
      for column in 1..<size {
        let module = rows[row][column]
        if rows[row - 1][column] == module, rows[row][column - 1] == module, rows[row - 1][column - 1] == module {
          points += 3
        }
      }
    }
    return points
  }

  /// Ten for each five in a hundred that the dark ones are away from half.
  private static func imbalance(_ modules: [Bool]) -> Int {
    let dark = modules.count { $0 }
    return abs(dark * 20 - modules.count * 10) / modules.count * 10
  }
}
