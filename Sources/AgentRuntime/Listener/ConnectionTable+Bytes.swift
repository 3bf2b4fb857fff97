/// What connections hold together, and who is dropped when it is too much. ``BufferBudget`` has the rules.
extension ConnectionTable {
  static let clearInterval = LoopSpan.milliseconds(50)

  /// Notes what a connection holds now.
  func count(_ connection: CallerConnection, unfinished: Int, untaken: Int) {
    let beyond = bytes.beyond(unfinished: unfinished, untaken: untaken)
    guard beyond != connection.bytesBeyond else { return }
    let madeRoom = bytes.change(from: connection.bytesBeyond, to: beyond)
    connection.bytesBeyond = beyond
    if madeRoom {
      // Who was held back for it is somewhere in the middle of something now.
      queue.atEndOfTurn { [self] in goOn() }
    } else if bytes.isUsedUp, clearing == nil {
      clearing = queue.schedule(at: queue.now) { [weak self] in self?.clear() }
    }
  }

  private func goOn() {
    for connection in Array(connections.values) { connection.settle() }
    shares.letGoOn(.listing)
  }

  /// Drops those that have held more than their own for too long, the longest first, until there is room.
  private func clear() {
    clearing = nil
    guard bytes.isUsedUp else { return }
    var holders: [(since: LoopTime, connection: CallerConnection)] = []
    for connection in connections.values where connection.bytesBeyond > 0 {
      if let since = connection.holdsSince { holders.append((since, connection)) }
    }
    holders.sort { $0.since < $1.since }
    for (since, connection) in holders {
      guard bytes.isUsedUp, since + limits.holdTime <= queue.now else { break }
      connection.drop()
    }
    guard bytes.isUsedUp else { return }
    // Not in every turn, since it takes a look at all.
    let next = queue.now + Self.clearInterval
    clearing = queue.schedule(at: next) { [weak self] in self?.clear() }
  }
}
