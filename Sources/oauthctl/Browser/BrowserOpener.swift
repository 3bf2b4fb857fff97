/// Hands a URL to a browser that outlives us.
struct BrowserOpener: Sendable {
  let environment: Environment

  /// Starts the first program of the rule that is there.
  ///
  /// - Returns: whether one was started.
  func open(_ url: String) -> Bool {
    guard BrowserRule.isSafe(url) else { return false }
    for name in BrowserRule(environment).programs {
      var wiring = Program.Wiring()
      wiring.isDetached = true
      wiring.isSilent = true
      if (try? Program.start([name, url], wiring)) != nil { return true }
    }
    return false
  }
}
