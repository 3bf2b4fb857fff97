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

  /// The logins that are over and are leaving one of `ports`, which takes some seconds at most.
  func leaving(_ ports: [Int]) -> [Task<Void, Never>] {
    closing.values.filter { !Set(ports).isDisjoint(with: $0.ports) }.map(\.end)
  }
}
