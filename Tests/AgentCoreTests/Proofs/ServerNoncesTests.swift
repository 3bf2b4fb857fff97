import AgentCore
import HTTPTerms
import Testing

@Suite("The nonces of servers")
struct ServerNoncesTests {
  private func origin(_ text: String) throws -> Origin { try Origin(hostEntry: text) }

  @Test("the last one of each server is used, and for the key alone that it was given for")
  func last() throws {
    let nonces = ServerNonces()
    let (one, two) = (try origin("one.example"), try origin("two.example"))
    nonces.set("a", for: one, key: "k")
    nonces.set("b", for: one, key: "k")
    #expect(nonces.nonce(for: one, key: "k") == "b")
    #expect(nonces.nonce(for: one, key: "other") == nil)
    #expect(nonces.nonce(for: two, key: "k") == nil)
    #expect(nonces.nonce(for: try origin("one.example:8443"), key: "k") == nil)
  }

  @Test("however many there are, the latest are kept and no more")
  func bounded() throws {
    let nonces = ServerNonces()
    let server = try origin("one.example")
    for number in 0..<(ServerNonces.most + 10) { nonces.set("n\(number)", for: server, key: "k\(number)") }
    #expect(nonces.count == ServerNonces.most)
    #expect(nonces.nonce(for: server, key: "k0") == nil)
    #expect(nonces.nonce(for: server, key: "k\(ServerNonces.most + 9)") == "n\(ServerNonces.most + 9)")
  }
}
