/// The value of `--port`: one port, or several with commas between them.
struct PortList: Equatable {
  /// Each once.
  let ports: [Int]

  /// - Throws: `CommandError.usage` for what is no port, and for one that is named twice.
  init(typed text: String) throws(CommandError) {
    let ports = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
    guard ports.allSatisfy((1...65_535).contains), (1...Self.most).contains(ports.count) else {
      throw .usage("it takes 1 to \(Self.most) ports from 1 to 65535, with commas and no blanks between them")
    }
    guard Set(ports).count == ports.count else { throw .usage("each port is named once") }
    self.ports = ports
  }

  /// As many as `redirect_ports` of an account's file holds.
  private static let most = 16

  /// The one that goes into the redirect itself.
  var only: Int? { ports.count == 1 ? ports.first : nil }

  /// Those that are tried in turn; empty: there is one at most.
  var inTurn: [Int] { only == nil ? ports : [] }
}
