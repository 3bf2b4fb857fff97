import Sealing
import Testing

@testable import AgentCore

@Suite("Resources that reject new tokens")
struct RejectingResourcesTests {
  private let here = "https://h/team/app.git"

  private func print(_ text: String) -> Fingerprint { Fingerprint(of: Secret(text)) }

  @Test("a place that refused two new tokens, each right after the one before, is remembered for five minutes")
  func remembered() {
    var places = RejectingResources()
    #expect(places.refused(print("a"), age: 500, at: here, now: 1_000) == nil)
    #expect(places.refused(print("b"), age: 2, at: here, now: 1_003) == nil, "it may have been revoked too")
    #expect(places.refused(print("c"), age: 1, at: here, now: 1_005) == 300_000)
    #expect(places.refused(print("d"), age: 200, at: here, now: 1_205) == 100_000, "whatever token")
    #expect(places.refused(print("d"), age: 200, at: here + "2", now: 1_205) == nil, "another place")
    #expect(places.refused(print("e"), age: 1, at: here, now: 1_306) == nil, "after that it is tried once more")
    #expect(places.refused(print("f"), age: 1, at: here, now: 1_308) == nil)
    #expect(places.refused(print("g"), age: 1, at: here, now: 1_310) == 300_000)
  }

  @Test("the same token again, an older one, and one that is not new say nothing")
  func harmless() {
    var places = RejectingResources()
    for _ in 0..<50 { #expect(places.refused(print("a"), age: 500, at: here, now: 1_000) == nil) }
    #expect(places.refused(print("b"), age: 20, at: here, now: 1_010) == nil, "it was there before the first refusal")
    #expect(places.refused(print("c"), age: 61, at: here, now: 1_100) == nil, "it was not new any more")
    places.forget()
    #expect(places.refused(print("d"), age: 1, at: here, now: 1_101) == nil)
  }

  @Test("only so many places are kept: the oldest makes room")
  func bounded() {
    var places = RejectingResources()
    for number in 0...RejectingResources.most {
      _ = places.refused(print("a"), age: 500, at: "https://h/\(number)", now: 1_000 + Double(number))
    }
    let now = 1_000 + Double(RejectingResources.most) + 2
    _ = places.refused(print("b"), age: 1, at: "https://h/1", now: now)
    #expect(places.refused(print("c"), age: 1, at: "https://h/1", now: now + 2) == 300_000)
    _ = places.refused(print("b"), age: 1, at: "https://h/0", now: now)
    #expect(places.refused(print("c"), age: 1, at: "https://h/0", now: now + 2) == nil)
  }
}
