import AgentWire
import Testing

@testable import AgentCore

@Suite("What a request for a token may ask for")
struct TokenKeyRequestTests {
  private func key(
    scope: [String]? = nil, resource: [String]? = nil, audience: [String]? = nil, granted: [String] = []
  ) throws(AgentFailure) -> TokenKey {
    var definition = AccountDefinition(
      name: "work", file: "/a/work.toml", issuer: "https://id.example", clientID: "c", scope: ["read", "write"])
    definition.allowedScope = ["admin"]
    definition.resource = ["https://api.example"]
    return try TokenKey(
      TokenGet(account: "work", scope: scope, resource: resource, audience: audience), of: definition, granted: granted)
  }

  @Test("Nothing, and all that the file or the login has, is the account's own token")
  func standard() throws {
    #expect(try key() == .standard)
    #expect(try key(scope: ["write", "read"]) == .standard)
    #expect(try key(scope: ["read"], granted: ["read"]) == .standard)
  }

  @Test("A part of it, what the file allows beside it, and what the login was granted get a token of their own")
  func parts() throws {
    #expect(try key(scope: ["read"]) == TokenKey(scope: ["read"]))
    #expect(try key(scope: ["admin"]) == TokenKey(scope: ["admin"]))
    #expect(try key(scope: ["mail"], granted: ["mail", "read"]) == TokenKey(scope: ["mail"]))
    #expect(try key(resource: ["https://api.example"]) == TokenKey(resource: ["https://api.example"]))
  }

  @Test("Anything else is refused, with the key of the file that would allow it")
  func others() {
    let scope = #expect(throws: AgentFailure.self) { try key(scope: ["read", "none-such"]) }
    #expect(scope?.kind == .notPermitted && scope?.hint?.text == "oauthctl login work --add-scope none-such")
    for (what, asked) in [
      ("resource", { () throws(AgentFailure) in try key(resource: ["https://other.example"]) }),
      ("audience", { () throws(AgentFailure) in try key(audience: ["a"]) }),
    ] {
      let failure = #expect(throws: AgentFailure.self) { try asked() }
      #expect(
        failure?.kind == .notPermitted
          && failure?.hint?.text == "add it to \(what) in /a/work.toml, which is read again within a second")
    }
  }

  @Test("An empty list is not the whole token", arguments: [[], [""], ["read", ""]])
  func empty(scope: [String]) {
    #expect(#expect(throws: AgentFailure.self) { try key(scope: scope) }?.kind == .badRequest)
  }
}
