extension LoginCoordinator {
  /// Not awaited: the page that tells the browser is still on its way through these listeners.
  func close(_ listeners: [any RedirectListening], of id: String) {
    guard !listeners.isEmpty else { return }
    let end = Task {
      for listener in listeners { await listener.close() }
      closing[id] = nil
    }
    closing[id] = (listeners.map(\.port), end)
  }

  /// Waits until logins that are over have left `ports`, some seconds at most. False: none of them is there.
  func leave(_ ports: [Int]) async -> Bool {
    let ends = closing.values.filter { !Set(ports).isDisjoint(with: $0.ports) }.map(\.end)
    for end in ends { await end.value }
    return !ends.isEmpty
  }
}
