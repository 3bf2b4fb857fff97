import ArgumentParser

/// The value of `--port`: one port, or several with commas between them.
struct PortList: ExpressibleByArgument, Equatable {
  let ports: [Int]

  init?(argument: String) {
    let ports = argument.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
    guard !ports.isEmpty, !ports.contains(nil) else { return nil }
    self.ports = ports.compactMap { $0 }
  }

  /// The one that goes into the redirect itself.
  var only: Int? { ports.count == 1 ? ports.first : nil }

  /// Those that are tried in turn; empty: there is one at most.
  ///
  /// - Throws: `CommandError.usage` for what is no port, and for one that is named twice.
  func list() throws(CommandError) -> [Int] {
    guard only == nil else { return [] }
    if let bad = ports.first(where: { !(1...65_535).contains($0) }) {
      throw .usage("--port \(bad): a port is 1 to 65535")
    }
    guard Set(ports).count == ports.count else {
      throw .usage("--port \(ports.map(String.init).joined(separator: ",")): each port is named once")
    }
    return ports
  }
}
