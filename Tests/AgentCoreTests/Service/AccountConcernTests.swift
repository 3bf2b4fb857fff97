import AgentWire
import HTTPTerms
import OAuthProtocol
import OAuthTerms
import Testing

@testable import AgentCore

@Suite("What of an account does not fit its server")
struct AccountConcernTests {
  private func server(_ change: (inout ResolvedServer) -> Void = { _ in }) throws -> ResolvedServer {
    var server = ResolvedServer(tokenEndpoint: try WebURL("https://id.example/token"))
    change(&server)
    return server
  }

  private func definition(_ change: (inout AccountDefinition) -> Void = { _ in }) -> AccountDefinition {
    var definition = AccountDefinition(
      name: "work", file: "/a/work.toml", issuer: "https://id.example", clientID: "c", scope: ["read"])
    change(&definition)
    return definition
  }

  private func checks(
    _ definition: AccountDefinition, _ server: ResolvedServer, secret: Bool = false, refreshed: Bool = false
  ) -> [String] {
    AccountConcerns.found(definition, server, keepsSecret: secret, hadRefreshToken: refreshed)
      .map { "\($0.check) \($0.isBlocking == true)" }
  }

  @Test("A server that says nothing raises no concern")
  func silent() throws {
    #expect(checks(definition(), try server()) == [])
  }

  @Test("A server that a browser cannot be logged in at is told before the login, and only of such a login")
  func obstacle() throws {
    let server = try server { $0.authorizationObstacle = .noS256(listed: "plain") }
    #expect(checks(definition(), server) == ["server true"])
    #expect(checks(definition { $0.grant = .deviceCode }, server) == [])
  }

  @Test("A way to prove the client that the server does not list, and a secret that is not sent")
  func client() throws {
    let server = try server { $0.authenticationMethods = ["client_secret_basic"] }
    #expect(checks(definition { $0.clientAuthentication = "client_secret_post" }, server) == ["client false"])
    #expect(checks(definition { $0.clientAuthentication = "client_secret_basic" }, server) == [])
    #expect(checks(definition { $0.clientAuthentication = "none" }, server) == [])
    #expect(checks(definition { $0.clientAuthentication = "none" }, server, secret: true) == ["client false"])
  }

  @Test("A certificate that could be shown to nobody is told before a key is made for it")
  func plainServer() throws {
    let plain = ResolvedServer(tokenEndpoint: try WebURL("http://127.0.0.1/token"))
    #expect(checks(definition { $0.clientAuthentication = "tls_client_auth" }, plain) == ["client true"])
    #expect(checks(definition { $0.clientAuthentication = "tls_client_auth" }, try server()) == [])
    #expect(checks(definition { $0.clientAuthentication = "private_key_jwt" }, plain) == [])
  }

  @Test("A scope that the server does not list, and offline access that is not asked for")
  func scope() throws {
    #expect(checks(definition(), try server { $0.scopes = ["read"] }) == [])
    #expect(checks(definition(), try server { $0.scopes = ["write"] }) == ["scope false"])
    let both = try server { $0.scopes = ["read", "offline_access"] }
    #expect(checks(definition(), both) == ["scope false"])
    #expect(checks(definition { $0.scope.append("offline_access") }, both) == [])
    #expect(checks(definition(), both, refreshed: true) == [], "a login had a refresh token without it")
    #expect(checks(definition { $0.grant = .clientCredentials }, both) == [])
  }
}
