import AgentWire
import HTTPTerms
import OAuthTerms
import Sealing
import Testing

@testable import AgentCore

@Suite("A client that can never prove itself")
struct ClientObstacleTests {
  private static let secret = Secret("hush")
  /// As the vault keeps one; what is behind the mark is read when it signs.
  private static let key = Secret("private-key-1 ES256 id AAAA")
  private static let keyWithCertificate = Secret("private-key-1 ES256 id AAAA BBBB")

  @Test("What is kept has to be what the method proves the client by")
  func kinds() {
    for method in ClientAuthenticationMethod.allCases {
      let found = [nil, Self.secret, Self.key].map { ClientObstacle(method.rawValue, $0) }
      switch method.proof {
      case nil: #expect(found == [nil, nil, nil])
      case .sharedSecret?: #expect(found == [.noSecret, nil, .keyForSecret])
      case .privateKey?: #expect(found == [.noKey, .secretForKey, nil])
      case .certificate?:
        #expect(found == [.noKey, .secretForKey, .noCertificate])
        #expect(ClientObstacle(method.rawValue, Self.keyWithCertificate) == nil)
      }
    }
    #expect(ClientObstacle("x", Self.secret) == .unknownMethod)
  }

  @Test("A certificate is shown over TLS alone, and a key that is there comes with its certificate")
  func certificate() throws {
    let (method, key) = ("tls_client_auth", Self.keyWithCertificate)
    let plain = try WebURL("http://127.0.0.1:8080/token")
    let obstacle = try #require(ClientObstacle(method, key, to: plain))
    #expect(obstacle == ClientObstacle(method, nil, to: plain), "it is told before a key is made")
    #expect(obstacle.reason(method).contains("needs TLS, and http://127.0.0.1:8080/token has none"))
    #expect(obstacle.hint("work", method).text.contains("https://"))
    #expect(ClientObstacle(method, key, to: try WebURL("https://id.example/token")) == nil)
    #expect(ClientObstacle("private_key_jwt", Self.key, to: plain) == nil)
    #expect(ClientObstacle.noKey.hint("work", method).text.hasSuffix("cat KEY CERTIFICATE | oauthctl key import work"))
    #expect(ClientObstacle.noKey.hint("work", "private_key_jwt").text.hasSuffix("key import work < FILE"))
  }

  @Test(
    "Its account refuses at once with what helps, sends nothing, and does not try again by itself",
    arguments: [(nil, "secret set work client_secret"), (key, "oauthctl key delete work")])
  func refused(kept: Secret?, step: String) throws {
    let driver = MachineDriver(
      .expired().with {
        $0.grant?.binding.clientAuthentication = "client_secret_post"
        $0.clientSecret = kept.map { StoredSecret($0) }
      },
      .plain.with {
        $0.clientAuthentication = "client_secret_post"
        $0.keep = .always
      })
    let failure = try #require(driver.failureWhole(driver.ask()))
    #expect(failure.kind == .clientRejected && failure.retryAfterMilliseconds == nil && !failure.kind.isRetryable)
    #expect(failure.hint?.text.contains(step) == true)
    driver.pass(100_000)
    #expect(driver.sent.isEmpty && !driver.log.contains("save"))
    #expect(driver.machine.state(at: driver.now).state == .clientRejected)
  }
}
