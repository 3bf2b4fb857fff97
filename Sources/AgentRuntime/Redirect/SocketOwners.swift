/// Whose the TCP sockets of this machine are. Loopback has no peer credentials (`SO_PEERCRED` is for Unix sockets); the
/// kernel's tables name the user of each socket. Blocks: the kernel writes them while they are read.
struct SocketOwners: Sendable {
  enum Owner: Sendable, Equatable {
    case user(UInt32)
    /// Why nobody can say.
    case unknown(String)
  }

  /// The kernel gives the tables page by page, and may pass over a row when sockets go in between.
  private static let readings = 3

  var folder = "/proc/self/net"
  var limitBytes = 32 << 20

  /// Whose the clients' ends of these connections are, in their order. The tables are read for all of them at once.
  ///
  /// A client that is gone may have left its port to another user's, who connects: that holds only of a connection that still
  /// stands when this is answered.
  func clients(of connections: [ConnectionEnds]) -> [Owner] {
    var owners = [Owner](repeating: .unknown("no table has its socket"), count: connections.count)
    var open = Array(connections.indices)
    for _ in 0..<Self.readings where !open.isEmpty {
      for isSix in [false, true] {
        // A client may have reached an IPv4 address with a socket of IPv6.
        let keys = open.filter { isSix || connections[$0].client.isIPv4 }.map { place in
          (place, (isSix ? connections[place].mapped : connections[place]).key)
        }
        guard !keys.isEmpty else { continue }
        let table = table(isSix ? "tcp6" : "tcp")
        let (rows, end) = table.rows(Set(keys.map(\.1)))
        var found: Set<Int> = []
        for (place, key) in keys {
          if let row = rows[key] {
            owners[place] = Self.owner(row)
            found.insert(place)
          } else if let problem = end.problem, connections[place].client.isIPv4 != isSix {
            owners[place] = .unknown("\(table.path)\(problem)")
          }
        }
        open.removeAll { found.contains($0) }
      }
    }
    return owners
  }

  private static func owner(_ row: SocketRow) -> Owner {
    guard row.inode != 0 else { return .unknown("its program has closed it") }
    // Another one that begins to connect from the same port stands there as well.
    return row.state == SocketRow.established ? .user(row.uid) : .unknown("it does not stand")
  }

  /// Who listens on `end`, or on all addresses with its port; nil when that is not in the tables.
  func listener(on end: SocketEnd) -> UInt32? {
    let (four, six) = (table("tcp"), table("tcp6"))
    // A socket of IPv6 for all addresses takes those of IPv4 along.
    let places =
      (end.isIPv4 ? [(four, end), (four, end.wildcard)] : []) + [(six, end.mapped), (six, end.mapped.wildcard)]
    for (table, place) in places {
      let nobody = SocketEnd(address: place.wildcard.address, port: 0)
      let key = ConnectionEnds(client: place, server: nobody).key
      let found = table.rows([key]) { $0.state == SocketRow.listening && $0.inode != 0 }
      if let row = found.rows[key] { return row.uid }
    }
    return nil
  }

  private func table(_ name: String) -> SocketTable { SocketTable(path: "\(folder)/\(name)", limitBytes: limitBytes) }
}
