import AgentWire
import HTTPTerms
import Testing

@testable import AgentCore
@testable import OAuthProtocol

@Suite("What a login uses of the server that a URL leads to")
struct ServerFindAnswerTests {
  private func scope(_ scope: [String], supported: [String]? = nil) throws -> [String] {
    let metadata = ServerMetadata(
      issuer: try Issuer("https://id.example"), authorizationEndpoint: nil,
      tokenEndpoint: try WebURL("https://id.example/token"), scopesSupported: supported)
    return ServerFindAnswer(
      ServerSearch.Found(metadata: metadata, kind: .oauth, resource: nil, scope: scope), clientMetadataURL: nil
    ).scope
  }

  @Test("A scope that cannot be sent is left out, and of very many the first 64, or 4,096 bytes, are asked for")
  func bounds() throws {
    #expect(try scope(["read", "a b", "a\"b", "a\\b", "é", "write"]) == ["read", "write"])
    #expect(try scope((0..<100).map { "s\($0)" }).count == 64)
    #expect(try scope(["a", "b"].map { String(repeating: $0, count: 2_049) }).count == 1)
  }

  @Test("Offline access is asked for where the server lists it, and where something is asked for at all")
  func offline() throws {
    let listed = ["read", "offline_access"]
    #expect(try scope(["read"], supported: listed) == listed)
    #expect(try scope(["read"], supported: ["read"]) == ["read"])
    #expect(try scope(["read"]) == ["read"])
    #expect(try scope([], supported: listed) == [])
    #expect(try scope(["offline_access", "read"], supported: listed) == ["offline_access", "read"])
  }
}
