import AgentWire
import FoundationEssentials
import OAuthTerms
import Sealing
import Testing

@testable import AgentCore

@Suite("What a person agrees to")
struct BindingChangeTests {
  private static let changes: [@Sendable (inout DefinitionBinding) -> Void] = [
    { $0.issuer = "x" }, { $0.clientID = "x" }, { $0.clientAuthentication = "x" }, { $0.tokenEndpoint = "x" },
    { $0.authorizationEndpoint = "x" }, { $0.deviceAuthorizationEndpoint = "x" }, { $0.revocationEndpoint = nil },
    { $0.redirectURI = "x" }, { $0.hosts.append("x") }, { $0.certificateAuthorityFile = "x" },
    { $0.certificateAuthorityDigest = "x" }, { $0.proxy = "x" }, { $0.tokenParameters = ["x": "y"] },
    { $0.pushedAuthorizationRequestEndpoint = "x" }, { $0.assertionAudience = .tokenEndpoint },
    { $0.dpop = true },
  ]

  @Test("each member that changes changes the digest and is a difference, and no two changes look alike")
  func members() {
    var digests: Set<String> = [DefinitionBinding.plain.digest]
    for change in Self.changes {
      var next = DefinitionBinding.plain
      change(&next)
      digests.insert(next.digest)
      #expect(DefinitionBinding.plain.differences(to: next).count == 1)
    }
    #expect(digests.count == Self.changes.count + 1)
    #expect(digests.allSatisfy { $0.count == 64 })
    #expect(DefinitionBinding.plain.differences(to: .plain).isEmpty)
  }

  @Test("what reads alike and is not the same byte by byte is a difference")
  func alike() {
    let definition = AccountDefinition.plain.with { $0.grant = .clientCredentials }
    let pairs: [([String], [String])] = [
      (["caf\u{E9}"], ["cafe\u{301}"]), (["a", "\u{301}b"], ["a \u{301}b"]), (["a%", "\u{301}"], ["a", "%\u{301}"]),
    ]
    for (was, now) in pairs {
      var binding = DefinitionBinding.plain
      binding.request = UnattendedRequest(definition.with { $0.audience = was })
      #expect(binding.differences(from: definition.with { $0.audience = now }).map(\.key) == ["audience"])
      binding.tokenParameters = ["k": was.joined(separator: "&")]
      var next = binding
      next.tokenParameters = ["k": now.joined(separator: "&")]
      #expect(binding.differences(to: next).map(\.key) == ["token_parameters"])
    }
  }

  @Test("the digest keeps apart what lies side by side, and does not know the order of hosts")
  func encoding() {
    var one = DefinitionBinding.plain
    var other = one
    one.issuer = "ab"
    one.clientID = "c"
    other.issuer = "a"
    other.clientID = "bc"
    #expect(one.digest != other.digest)
    one.hosts = ["a", "b"]
    other = one
    other.hosts = ["b", "a"]
    #expect(one.digest == other.digest)
    other.hosts = ["a b"]
    #expect(one.digest != other.digest)
  }

  @Test(
    "an unattended grant is bound to what it asks for",
    arguments: [GrantKind.clientCredentials, .password])
  func unattended(grant: GrantKind) {
    let definition = AccountDefinition.plain.with { $0.grant = grant }
    var binding = DefinitionBinding.plain
    #expect(binding.differences(from: definition).isEmpty, "a record from before")
    binding.request = UnattendedRequest(definition)
    #expect(binding.differences(from: definition).isEmpty)
    let changes: [(String, (inout AccountDefinition) -> Void)] = [
      ("scope", { $0.scope.append("admin") }), ("resource", { $0.resource = ["https://api.example"] }),
      ("audience", { $0.audience = ["api"] }), ("username", { $0.username = "bob" }),
    ]
    for (key, change) in changes {
      let next = definition.with(change)
      #expect(binding.differences(from: next).map(\.key) == [key])
      var bound = binding
      bound.request = UnattendedRequest(next)
      #expect(bound.digest != binding.digest)
    }
    #expect(UnattendedRequest(.plain) == nil)
  }

  @Test("a login is bound to when its refresh token is sent twice; a record from before is not")
  func resending() throws {
    let definition = AccountDefinition.plain.with { $0.reuseGraceSeconds = 30 }
    #expect(DefinitionBinding.plain.resending == nil)
    #expect(DefinitionBinding.plain.differences(from: definition).isEmpty, "a record from before")
    var binding = DefinitionBinding.plain
    binding.resending = ResendPolicy(definition)
    #expect(binding.differences(from: definition).isEmpty)
    let stored = try JSONDecoder().decode(DefinitionBinding.self, from: JSONEncoder().encode(binding))
    #expect(stored == binding)
    let changes: [(String, (inout AccountDefinition) -> Void)] = [
      ("reuse_grace_s", { $0.reuseGraceSeconds = 1 }), ("reuse_grace_s", { $0.reuseGraceSeconds = nil }),
      ("ambiguous_retry", { $0.ambiguousRetry = .never }),
    ]
    var digests: Set<String> = [DefinitionBinding.plain.digest, binding.digest]
    for (key, change) in changes {
      let next = definition.with(change)
      #expect(binding.differences(from: next).map(\.key) == [key])
      var bound = binding
      bound.resending = ResendPolicy(next)
      #expect(binding.differences(to: bound).map(\.key) == [key])
      #expect(DefinitionBinding.plain.differences(to: bound).isEmpty, "a record from before")
      #expect(binding.loginDifferences(to: bound, of: next).map(\.key) == [key])
      digests.insert(bound.digest)
    }
    #expect(digests.count == 5)
  }

  @Test("a login asks for what the file sends elsewhere, and not for what the same issuer adds or leaves out")
  func login() {
    func keys(_ definition: AccountDefinition, _ change: (inout DefinitionBinding) -> Void) -> [String] {
      var next = DefinitionBinding.plain
      change(&next)
      return DefinitionBinding.plain.loginDifferences(to: next, of: definition).map(\.key)
    }
    #expect(keys(.plain) { $0.tokenEndpoint = "x" } == ["token_endpoint"])
    #expect(keys(.plain) { $0.hosts = ["x"] } == ["hosts"])
    #expect(keys(.plain) { $0.revocationEndpoint = nil }.isEmpty)
    #expect(keys(.plain) { $0.revocationEndpoint = "x" } == ["revocation_endpoint"])
    #expect(keys(.plain) { $0.deviceAuthorizationEndpoint = "x" }.isEmpty)
    #expect(
      keys(.plain.with { $0.deviceAuthorizationEndpoint = "x" }) { $0.deviceAuthorizationEndpoint = "x" }
        == ["device_authorization_endpoint"])
    #expect(keys(.plain) { $0.clientAuthentication = "client_secret_basic" }.isEmpty)
  }

  @Test(
    "a secret that has only signed is sent itself only after a yes, whoever changed how the client proves itself",
    arguments: ["client_secret_basic", "client_secret_post", "client_secret_jwt", "none"])
  func signedSecret(method: String) {
    var (signing, next) = (DefinitionBinding.plain, DefinitionBinding.plain)
    (signing.clientAuthentication, next.clientAuthentication) = ("client_secret_jwt", method)
    let isSent = method == "client_secret_basic" || method == "client_secret_post"
    #expect(
      signing.loginDifferences(to: next, of: .plain).map(\.key) == (isSent ? ["client_authentication"] : []))
  }

  @Test("a client secret stays with its server when the login is gone, in records from before as well")
  func afterLogout() {
    for place in [SecretPlace(.plain as DefinitionBinding), nil] {
      let record = AccountRecord.loggedIn().with {
        $0.clientSecret = StoredSecret(Secret("s"))
        $0.clientSecretPlace = place
      }
      var machine = AccountStateMachine("work", record: record, definition: .plain)
      let actions = machine.handle(.changed(.logout(), 1), at: .start)
      guard let saved = actions.compactMap({ if case .save(let it) = $0 { it } else { nil } }).first else {
        Issue.record("nothing is saved")
        return
      }
      var next = DefinitionBinding.plain
      #expect(saved.loginDifferences(to: next, of: .plain).isEmpty)
      next.tokenEndpoint = "https://elsewhere.example/token"
      #expect(saved.loginDifferences(to: next, of: .plain).map(\.key) == ["token_endpoint"])
      #expect(
        saved.with { $0.formerBinding = nil }.loginDifferences(to: next, of: .plain).map(\.key)
          == ["token_endpoint"], "the secret's own place")
    }
  }

  @Test("a login after a logout is compared with the login before, and a login takes its place")
  func loginAfterLogout() {
    var machine = AccountStateMachine("work", record: .loggedIn(), definition: .plain)
    let saved = machine.handle(.changed(.logout(), 1), at: .start).compactMap {
      if case .save(let it) = $0 { it } else { nil }
    }
    var next = DefinitionBinding.plain
    next.hosts.append("https://elsewhere.example")
    #expect(saved.map { $0.loginDifferences(to: next, of: .plain).map(\.key) } == [["hosts"]])
    #expect(saved.first?.grant == nil && saved.first?.formerBinding == .plain)
    var again = AccountStateMachine("work", record: saved.first, definition: .plain)
    guard let login = AccountRecord.loggedIn().grant, let token = AccountRecord.loggedIn().tokens.first else { return }
    let kept = again.handle(.changed(.login(login, token, used: UsedSecrets()), 2), at: .start)
      .compactMap { if case .save(let it) = $0 { it } else { nil } }
    #expect(kept.count == 1 && kept.first?.formerBinding == nil)
  }

  @Test("an endpoint that metadata name later gets the secret without a question only where its origin has had it")
  func laterEndpoint() {
    var binding = DefinitionBinding.plain
    // The browser's page has not had it.
    binding.authorizationEndpoint = "https://page.example/authorize"
    let record = AccountRecord(name: "work").with {
      $0.clientSecret = StoredSecret(Secret("s"))
      $0.clientSecretPlace = SecretPlace(binding)
    }
    for (url, isAsked) in [
      ("\(binding.tokenEndpoint)/par", false), ("https://elsewhere.example/par", true),
      ("https://page.example/par", true),
    ] {
      var next = binding
      next.pushedAuthorizationRequestEndpoint = url
      let keys = record.loginDifferences(to: next, of: .plain).map(\.key)
      #expect(keys == (isAsked ? ["pushed_authorization_request_endpoint"] : []))
    }
  }

  @Test("what a login sends first stays at its endpoint, when it fails as well; what it did not send stays as it was")
  func firstSending() {
    let record = AccountRecord(name: "work").with {
      ($0.clientSecret, $0.password) = (StoredSecret(Secret("s")), StoredSecret(Secret("p")))
      ($0.clientSecretPlace, $0.passwordPlace) = (
        SecretPlace(.plain as AccountDefinition), SecretPlace(.plain as AccountDefinition)
      )
    }
    let driver = MachineDriver(record)
    var next = DefinitionBinding.plain
    next.tokenEndpoint = "https://elsewhere.example/token"
    #expect(record.loginDifferences(to: next, of: .plain).isEmpty)
    let id = driver.change(.placeSecrets(UsedSecrets(clientSecret: Secret("s")), .plain))
    driver.saved()
    #expect(driver.isDurable(id))
    #expect(driver.durable?.loginDifferences(to: next, of: .plain).map(\.key) == ["token_endpoint"])
    #expect(driver.durable?.passwordPlace == record.passwordPlace)
    #expect(driver.isDurable(driver.change(.placeSecrets(UsedSecrets(clientSecret: Secret("s")), next))))
    #expect(driver.durable?.loginDifferences(to: .plain, of: .plain) == [], "the first place stays")
  }

  @Test("a secret that was given to sign is sent itself only after a yes, before any login has ended as well")
  func givenToSign() {
    let signing = AccountDefinition.plain.with { $0.clientAuthentication = "client_secret_jwt" }
    let record = AccountRecord(name: "work").with {
      $0.clientSecret = StoredSecret(Secret("s"))
      $0.clientSecretPlace = SecretPlace(signing)
    }
    for (method, isAsked) in [("client_secret_post", true), ("client_secret_jwt", false), ("private_key_jwt", false)] {
      var next = DefinitionBinding.plain
      next.clientAuthentication = method
      let keys = record.loginDifferences(to: next, of: .plain).map(\.key)
      #expect(keys == (isAsked ? ["client_authentication"] : []))
      #expect((record.clientSecret(for: next) == nil) == isAsked, "nor by a refresh or a logout")
    }
  }

  @Test("a client secret that is given before the first login belongs to what the file says then")
  func beforeLogin() {
    var record = AccountRecord(name: "work")
    record.clientSecret = StoredSecret(Secret("s"))
    record.clientSecretPlace = SecretPlace(.plain as AccountDefinition)
    #expect(record.loginDifferences(to: .plain, of: .plain).isEmpty, "the issuer names its endpoint")
    let written = AccountDefinition.plain.with { $0.tokenEndpoint = "https://elsewhere.example/token" }
    var next = DefinitionBinding.plain
    next.tokenEndpoint = "https://elsewhere.example/token"
    #expect(record.loginDifferences(to: next, of: written).map(\.key) == ["token_endpoint"])
  }

  @Test("what came with a login gives way to what was set meanwhile of its own kind alone")
  func broughtSecrets() {
    var used = UsedSecrets(clientSecret: Secret("s"), password: Secret("p"))
    (used.bringsClientSecret, used.bringsPassword) = (true, true)
    used.changesBefore = [.password: 1]
    let driver = MachineDriver(.loggedIn())
    #expect(used.unlessChanged([.password: 1, .refreshToken: 1]) == used)
    let rest = used.unlessChanged([.password: 2])
    #expect(rest.bringsClientSecret && !rest.bringsPassword)
    // The same one again, too.
    for count in 1...2 {
      driver.change(.setSecret(.clientSecret, Secret("s")))
      if count == 1 { driver.saved() }
      #expect(driver.machine.secretChanges == [.clientSecret: count])
    }
    driver.change(.setSecret(.clientSecret, Secret("t"), replaces: false))
    #expect(driver.machine.secretChanges == [.clientSecret: 2], "refused")
  }
}
