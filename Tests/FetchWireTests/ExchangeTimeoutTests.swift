import FetchWire
import Testing

@Suite("How long is waited for a server")
struct ExchangeTimeoutTests {
  /// Looks after waits as long as they were meant, until it is over; what passed since `start`.
  private func untilOver(_ patience: inout ExchangeTimeout, from start: Int) -> Int {
    var now = start
    while !patience.isOver {
      now += patience.nextWaitMilliseconds
      patience.look(at: now)
    }
    return now - start
  }

  @Test("Without an interruption it is the limit, however often one looks", arguments: [50, 1_000, 5_500, 60_000])
  func limit(_ limit: Int) {
    var patience = ExchangeTimeout(milliseconds: limit, .helper, at: 7)
    #expect(patience.nextWaitMilliseconds == min(limit, 1_000))
    #expect(untilOver(&patience, from: 7) == limit)
    var often = ExchangeTimeout(milliseconds: limit, .agent, at: 0)
    for now in 0..<limit {
      #expect(!often.isOver)
      often.look(at: now)
    }
    often.look(at: limit)
    #expect(often.isOver && often.nextWaitMilliseconds == 0)
  }

  @Test("A busy machine's delays are not forgiven")
  func busy() {
    var patience = ExchangeTimeout(milliseconds: 10_000, .helper, at: 0)
    patience.look(at: 4_000)
    patience.look(at: 8_000)
    #expect(!patience.isOver)
    patience.look(at: 10_000)
    #expect(patience.isOver)
  }

  @Test("An interruption of any length is not counted, and leaves what was left", arguments: [5_000, 65_000, 1 << 40])
  func interrupted(_ length: Int) {
    var patience = ExchangeTimeout(milliseconds: 60_000, .helper, at: 0)
    for now in stride(from: 1_000, through: 20_000, by: 1_000) { patience.look(at: now) }
    patience.look(at: 20_000 + length)
    // The second that was meant is counted.
    #expect(untilOver(&patience, from: 20_000 + length) == 39_000)
  }

  @Test("After an interruption ten seconds are left at least, and twelve for the agent")
  func rest() {
    for (rules, rest) in [(ExchangeTimeout.Rules.helper, 10_000), (.agent, 12_000)] {
      var patience = ExchangeTimeout(milliseconds: 1_000, rules, at: 0)
      patience.look(at: 65_000)
      #expect(!patience.isOver)
      #expect(untilOver(&patience, from: 65_000) == rest)
    }
  }

  @Test("Eight interruptions are forgiven, the ninth counts in full")
  func bounded() {
    var patience = ExchangeTimeout(milliseconds: 60_000, .agent, at: 0)
    var now = 0
    for _ in 1...8 {
      now += 3_600_000
      patience.look(at: now)
      #expect(!patience.isOver)
    }
    patience.look(at: now + 3_600_000)
    #expect(patience.isOver)
  }

  @Test("However it is stopped, it has run for its limit and eight rests at most")
  func total() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      let limit = Int.random(in: 1...61_000, using: &random)
      var patience = ExchangeTimeout(milliseconds: limit, .agent, at: 0)
      var (now, ran) = (0, 0)
      while !patience.isOver {
        let wait = patience.nextWaitMilliseconds
        let stop = Bool.random(using: &random) ? 0 : Int.random(in: 0...100_000, using: &random)
        now += wait + stop
        ran += wait
        patience.look(at: now)
      }
      #expect(ran <= limit + 8 * 13_000)
    }
  }

  /// When, by the clock, the patience of somebody is over who is stopped at these moments of its running time.
  private func end(_ patience: ExchangeTimeout, _ stops: [(at: Int, length: Int)]) -> Int {
    var (patience, stops, running, clock) = (patience, stops[...], 0, 0)
    while !patience.isOver {
      // A wait ends by the clock, which goes on while one is stopped.
      var left = patience.nextWaitMilliseconds
      while left > 0, let stop = stops.first, stop.at < running + left {
        stops.removeFirst()
        let ran = max(0, stop.at - running)
        running += ran
        clock += ran + stop.length
        left -= ran + stop.length
      }
      running += max(left, 0)
      clock += max(left, 0)
      patience.look(at: clock)
    }
    return clock
  }

  @Test("Whenever both are stopped together, up to eight times, the agent is patient for no shorter")
  func both() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<2_000 {
      let limit = Int.random(in: 1...60_000, using: &random)
      let stops = (0..<Int.random(in: 0...8, using: &random)).map { _ in
        (at: Int.random(in: 0...70_000, using: &random), length: Int.random(in: 0...20_000, using: &random))
      }.sorted { $0.at < $1.at }
      let helper = end(ExchangeTimeout(milliseconds: limit, .helper, at: 0), stops)
      let agent = end(ExchangeTimeout(milliseconds: limit + 1_000, .agent, at: 0), stops)
      // Both may look for the first time when both are over: what the helper has reported by then is read.
      #expect(helper <= agent, "\(limit) \(stops)")
    }
  }
}
