import AgentWire
import Sealing
import Testing

@testable import AgentCore

@Suite("Changes: login, logout, secrets, definitions, one at a time between refreshes")
struct ChangeTests {
  @Test("changes queue behind a refresh in flight, in order, and see its result")
  func queue() {
    let driver = MachineDriver(.expired())
    let waiter = driver.ask()
    driver.saved()
    let secret = driver.change(.setSecret(.clientSecret, Secret("s")))
    let logout = driver.change(.logout())
    #expect(driver.saving == nil)
    driver.ends(.granted("a2", refreshToken: "r2"))
    driver.saved()
    #expect(driver.token(waiter) == "a2")
    driver.saved()
    #expect(driver.isDurable(secret))
    #expect(driver.changes[logout] == nil)
    driver.saved()
    #expect(driver.isDurable(logout))
    #expect(
      driver.revoking?.token.secret == Secret("r2"), "the refresh token of the refresh in flight is the one to revoke")
    #expect(driver.revocationSecret == Secret("s"))
  }

  @Test("a login replaces the grant and serves those who wait")
  func login() {
    let driver = MachineDriver(.expired())
    let id = driver.ask()
    driver.saved()
    driver.ends(.sentNoAnswer("closed"))
    let change = driver.change(.login("b1"))
    driver.saved()
    #expect(driver.isDurable(change))
    #expect(driver.token(id) == "b1")
    #expect(driver.durable?.intent == nil)
    #expect(driver.durable?.refreshToken == "r9")
    #expect(driver.sent.count == 1)
  }

  @Test("a login after a verdict starts anew")
  func loginAfterVerdict() {
    let driver = MachineDriver(.expired())
    driver.ask()
    driver.saved()
    driver.endsDurably(.invalidGrant)
    driver.change(.login("b1"))
    driver.saved()
    #expect(driver.durable?.grant?.verdict == nil)
    #expect(driver.token(driver.ask()) == "b1")
  }

  @Test(
    "logout withdraws the token before it is answered, and forgets grant, tokens and password, not the client secret")
  func logout() {
    let driver = MachineDriver(
      .loggedIn().with {
        $0.clientSecret = StoredSecret(Secret("s"))
        $0.password = StoredSecret(Secret("p"))
      })
    let id = driver.change(.logout())
    driver.saved()
    #expect(driver.log == ["save", "publish", "changed", "revoke"])
    #expect(driver.isDurable(id))
    #expect(driver.published.isEmpty)
    #expect(driver.durable?.grant == nil)
    #expect(driver.durable?.tokens.isEmpty == true)
    #expect(driver.durable?.password == nil)
    #expect(driver.durable?.clientSecret != nil)
    #expect(driver.failure(driver.ask()) == .loginRequired)
    #expect(driver.isDurable(driver.change(.logout())), "logging out twice is no error")
  }

  @Test("forget keeps what a server has still to be told, and the record goes with the last of it")
  func forgetBesideRevocations() {
    let driver = MachineDriver(.loggedIn().with { $0.clientSecret = StoredSecret(Secret("s")) })
    driver.change(.logout())
    driver.saved()
    let owed = driver.durable?.revocations ?? []
    #expect(!owed.isEmpty && driver.durable?.formerBinding != nil)
    #expect(driver.isDurable(driver.change(.forget())) == false)
    driver.saved()
    var left = AccountRecord(name: "work")
    left.revocations = owed
    (left.order, left.logoutOrder) = (driver.durable?.order, driver.durable?.order)
    // The secret went with the logout's end, and its number says when.
    (left.clientSecretOrder, left.formerTokenOrder) = (driver.durable?.clientSecretOrder, 0)
    #expect(driver.durable == left)
    for revocation in owed {
      driver.change(.dropRevocation(revocation))
      driver.saved()
    }
    #expect(driver.durable == nil && driver.log.last { $0 != "changed" && $0 != "publish" } == "erase")
  }

  @Test("forget ends the login that was shown and no other", arguments: ["", "another"])
  func forgetShown(login: String) throws {
    let driver = MachineDriver()
    #expect(driver.failed(driver.change(.forget(login: login))) == .definitionChanged)
    #expect(driver.durable?.grant != nil && driver.log == ["changed"])
    let shown = try #require(driver.durable?.grant?.loginID)
    let id = driver.change(.forget(login: shown))
    driver.saved()
    #expect(driver.isDurable(id) && driver.durable == nil)
    #expect(driver.isDurable(driver.change(.forget(login: ""))))
  }

  @Test("forget deletes the secrets that were shown and no others")
  func forgetShownSecrets() {
    let driver = MachineDriver(.loggedIn().with { $0.clientSecret = StoredSecret(Secret("s")) })
    for secrets in [[], [SecretKind.password], [.clientSecret, .password]] {
      #expect(driver.failed(driver.change(.forget(secrets: secrets))) == .definitionChanged)
    }
    let id = driver.change(.forget(secrets: [.clientSecret]))
    driver.saved()
    #expect(driver.isDurable(id) && driver.durable == nil)
  }

  @Test("forget erases a record that owes nothing")
  func forget() {
    let driver = MachineDriver()
    let id = driver.change(.forget())
    #expect(driver.log == ["erase"])
    driver.saved()
    #expect(driver.isDurable(id))
    #expect(driver.durable == nil)
    #expect(driver.published.isEmpty)
    #expect(driver.isDurable(driver.change(.forget())))
  }

  @Test("a new refresh token is used, whatever was decided or sent with the old one")
  func newRefreshToken() {
    let driver = MachineDriver(.expired())
    driver.ask()
    driver.saved()
    driver.endsDurably(.sentNoAnswer("closed"))
    driver.sleepAndWake()
    driver.saved()
    driver.endsDurably(.sentNoAnswer("closed"))
    #expect(driver.durable?.grant?.verdict?.kind == .loginRequired)
    driver.change(.setSecret(.refreshToken, Secret("r5")))
    driver.saved()
    let id = driver.ask()
    driver.saved()
    #expect(driver.durable?.intent?.attempt == 1)
    driver.endsDurably(.granted("a2"))
    #expect(driver.token(id) == "a2")
  }

  @Test("no change, no write")
  func noChange() {
    let record = AccountRecord.loggedIn().with {
      $0.clientSecret = StoredSecret(Secret("s"))
      $0.clientSecretPlace = SecretPlace(.plain as DefinitionBinding)
    }
    let driver = MachineDriver(record)
    let id = driver.change(.setSecret(.clientSecret, Secret("s")))
    #expect(driver.isDurable(id))
    #expect(driver.log == ["changed"])
  }

  @Test("another certificate of a key moves the key to no other server, and is for no other key")
  func certificate() {
    let place = SecretPlace(.plain as DefinitionBinding)
    let record = AccountRecord.loggedIn().with {
      $0.clientSecret = StoredSecret(Secret("key"))
      $0.clientSecretPlace = place
    }
    let driver = MachineDriver(record, .plain.with { $0.issuer = "https://other.example" })
    let id = driver.change(.setCertificate(Secret("key certificate"), of: StoredSecret(Secret("key"))))
    driver.saved()
    #expect(driver.isDurable(id))
    #expect(driver.durable?.clientSecret == StoredSecret(Secret("key certificate")))
    #expect(driver.durable?.clientSecretPlace == place)
    let late = driver.change(.setCertificate(Secret("key other"), of: StoredSecret(Secret("key"))))
    #expect(driver.failed(late) != nil && driver.durable?.clientSecret == StoredSecret(Secret("key certificate")))
  }

  // MARK: Definitions

  static let changed: [AccountDefinition] = [
    .plain.with { $0.issuer = "https://evil.example.com" },
    .plain.with { $0.clientID = "other" },
    .plain.with { $0.tokenEndpoint = "https://evil.example.com/token" },
    .plain.with { $0.hosts = ["https://login.example.com", "https://evil.example.com"] },
    .plain.with { $0.proxy = "http://proxy.example.com" },
    .plain.with { $0.certificateAuthorityFile = "/tmp/ca.pem" },
    .plain.with { $0.tokenParameters = ["a": "b"] },
    .plain.with { $0.redirectURI = "http://127.0.0.1/other" },
    .plain.with { $0.clientAuthentication = "client_secret_post" },
  ]

  @Test(
    "a definition that differs from what the grant is bound to sends nothing, and serves what is valid",
    arguments: changed)
  func definitionChanged(definition: AccountDefinition) {
    let driver = MachineDriver(.loggedIn(age: 600).with { $0.revocations = [] }, definition.with { $0.keep = .always })
    #expect(driver.token(driver.ask()) == "a1")
    #expect(driver.failure(driver.ask(rejected: "a1")) == .definitionChanged)
    driver.pass(100_000)
    #expect(driver.failure(driver.ask()) == .definitionChanged)
    #expect(driver.machine.wake(at: driver.now) == nil)
    #expect(driver.machine.state(at: driver.now).state == .definitionChanged)
    #expect(driver.log.allSatisfy { !["save", "send"].contains($0) })
  }

  @Test("accepting it binds the grant, and refreshes go on")
  func accept() {
    let driver = MachineDriver(.expired(), .plain.with { $0.clientID = "other" })
    var binding = DefinitionBinding.plain
    binding.clientID = "other"
    let id = driver.change(.accept(binding, from: .plain))
    driver.saved()
    #expect(driver.isDurable(id))
    driver.ask()
    driver.saved()
    #expect(driver.sent.first?.binding.clientID == "other")
  }

  @Test("what a person agreed to is not applied to another login that came before it in the queue")
  func overtakenByLogin() {
    let driver = MachineDriver(.expired(), .plain.with { $0.clientID = "other" })
    var (agreed, elsewhere) = (DefinitionBinding.plain, DefinitionBinding.plain)
    agreed.clientID = "other"
    elsewhere.issuer = "https://elsewhere.example"
    driver.ask()
    let login = driver.change(.login("b1", binding: elsewhere))
    let id = driver.change(.accept(agreed, from: .plain))
    while driver.saving != nil { driver.saved() }
    #expect(driver.isDurable(login) && driver.failed(id) == .definitionChanged)
    #expect(driver.durable?.grant?.binding == elsewhere)
  }

  @Test("what a person agreed to behind a refresh is not applied once the file says something else again")
  func putBackMeanwhile() {
    let shown = AccountDefinition.plain.with { $0.clientID = "other" }
    let driver = MachineDriver(.expired(), .plain)
    driver.ask()
    driver.saved()
    driver.define(shown)
    var agreed = DefinitionBinding.plain
    agreed.clientID = "other"
    let id = driver.change(.accept(agreed, from: .plain, shown: shown))
    driver.define(.plain)
    driver.endsDurably(.granted("a2", refreshToken: "r2"))
    while driver.saving != nil { driver.saved() }
    #expect(driver.failed(id) == .definitionChanged && driver.durable?.grant?.binding == .plain)
  }

  @Test(
    "a secret typed for one server is not kept for another that the file names by now", arguments: SecretKind.allCases)
  func misplaced(_ kind: SecretKind) {
    let other = AccountDefinition.plain.with { $0.issuer = "https://elsewhere.example" }
    let shown = AccountRecord.expired().place(other).digest
    let driver = MachineDriver(.expired())
    let id = driver.change(.setSecret(kind, Secret("typed"), place: shown))
    #expect(driver.failed(id) == .definitionChanged && driver.saving == nil)
    let fitting = driver.change(.setSecret(kind, Secret("typed"), place: AccountRecord.expired().place(.plain).digest))
    driver.saved()
    #expect(driver.isDurable(fitting))
  }

  @Test("of two keys that are given at once without replacing one, the first stays, and the second is told")
  func oneKey() {
    let driver = MachineDriver(.loggedIn())
    let first = driver.change(.setSecret(.clientSecret, Secret("first"), replaces: false))
    let second = driver.change(.setSecret(.clientSecret, Secret("second"), replaces: false))
    driver.saved()
    #expect(driver.isDurable(first) && driver.failed(second) == .badRequest && driver.saving == nil)
    #expect(driver.durable?.clientSecret?.secret == Secret("first"))
    let third = driver.change(.setSecret(.clientSecret, Secret("third")))
    driver.saved()
    #expect(driver.isDurable(third) && driver.durable?.clientSecret?.secret == Secret("third"))
  }

  @Test("a definition that changes while the intent is being saved stops the sending, and the intent is withdrawn")
  func changedMeanwhile() {
    let driver = MachineDriver(.expired())
    let id = driver.ask()
    driver.define(.plain.with { $0.clientID = "other" })
    driver.saved()
    #expect(driver.sent.isEmpty)
    driver.saved()
    #expect(driver.failure(id) == .definitionChanged)
    #expect(driver.durable?.intent == nil)
  }

  @Test("a definition that changes while a refresh is in flight loses nothing of its answer")
  func changedInFlight() {
    let driver = MachineDriver(.expired())
    let id = driver.ask()
    driver.saved()
    driver.define(nil)
    driver.endsDurably(.granted("a2"))
    #expect(driver.durable?.refreshToken == "r2")
    #expect(driver.token(id) == "a2")
    driver.pass(100_000)
    #expect(driver.failure(driver.ask()) == .accountUnknown)
    #expect(driver.sent.count == 1)
  }

  @Test("keys that decide nothing about secrets are no change")
  func harmless() {
    let driver = MachineDriver(
      .loggedIn(),
      .plain.with {
        $0.gitUsername = "git"; $0.keep = .always; $0.scope = ["read", "write"]
      })
    #expect(!driver.machine.isDefinitionChanged)
  }
}
