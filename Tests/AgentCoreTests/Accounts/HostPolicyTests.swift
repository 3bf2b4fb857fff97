import AgentCore
import AgentWire
import Testing

@Suite("Where an account's tokens may go")
struct HostPolicyTests {
  private let issuer = "https://id.example"

  private func definition(hosts: [String] = []) -> AccountDefinition {
    AccountDefinition(name: "work", issuer: issuer, clientID: "abc", hosts: hosts)
  }

  private func binding(hosts: [String]) -> DefinitionBinding {
    DefinitionBinding(
      issuer: issuer, clientID: "abc", clientAuthentication: "none", tokenEndpoint: issuer + "/token",
      authorizationEndpoint: nil, deviceAuthorizationEndpoint: nil, revocationEndpoint: nil,
      redirectURI: "http://127.0.0.1/callback", hosts: hosts, certificateAuthorityFile: nil,
      certificateAuthorityDigest: nil, proxy: nil, tokenParameters: [:])
  }

  @Test(
    "Served is what both the file and the login name",
    arguments: [
      (["a.example", "b.example"], ["https://a.example", "https://b.example"], ["a", "b"], []),
      (["a.example"], ["https://a.example", "https://b.example"], ["a"], []),
      (["a.example", "b.example"], ["https://a.example"], ["a"], ["b"]),
      (["b.example"], ["https://a.example"], [], ["b"]),
      (["HTTPS://A.example:443/"], ["https://a.example"], ["a"], []),
      (["a.example"], [], [], ["a"]),
    ] as [([String], [String], [String], [String])])
  func served(_ file: [String], _ bound: [String], _ served: [String], _ unaccepted: [String]) {
    let policy = HostPolicy(definition(hosts: file), boundTo: binding(hosts: bound))
    #expect(policy.served == served.map { "https://\($0).example" })
    #expect(policy.unaccepted == unaccepted.map { "https://\($0).example" })
  }

  @Test("Without hosts in the file it is the issuer's, and without a login the file decides")
  func defaults() {
    #expect(HostPolicy(definition(), boundTo: nil).served == [issuer])
    #expect(HostPolicy(definition(), boundTo: binding(hosts: [issuer])).served == [issuer])
    #expect(HostPolicy(definition(), boundTo: binding(hosts: ["https://api.example"])).served == [])
    #expect(HostPolicy(definition(hosts: ["api.example"]), boundTo: nil).served == ["https://api.example"])
  }

  private func select(_ account: String?, _ url: String, file: [String], bound: [String]) -> AgentFailure? {
    let policy = HostPolicy(definition(hosts: file), boundTo: binding(hosts: bound))
    do {
      let candidate = AccountSelection.Candidate(definition(hosts: file), hosts: policy, isLoggedIn: true)
      _ = try AccountSelection.select(.init(account: account, url: url), among: [candidate])
      return nil
    } catch { return error }
  }

  @Test("A host that was taken out is refused by name and finds no account without one")
  func takenOut() {
    let bound = ["https://a.example", "https://b.example"]
    #expect(select("work", "https://a.example/x", file: ["a.example"], bound: bound) == nil)
    let refused = select("work", "https://b.example/x", file: ["a.example"], bound: bound)
    #expect(
      refused?.kind == .notPermitted
        && refused?.hint?.text.contains("hosts = [\"https://a.example\", \"https://b.example\"]") == true)
    #expect(select(nil, "https://b.example/x", file: ["a.example"], bound: bound)?.kind == .accountUnknown)
  }

  @Test("A host that was added is refused with the command that accepts it", arguments: ["work", nil])
  func added(_ account: String?) {
    let refused = select(account, "https://b.example/", file: ["a.example", "b.example"], bound: ["https://a.example"])
    #expect(refused?.kind == .notPermitted && refused?.hint == .run("oauthctl account accept work"))
  }
}
