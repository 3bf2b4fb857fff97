import FoundationEssentials
import HTTPTerms
import OAuthProtocol
import Sealing
import Testing

@testable import AgentCore

@Suite("Clients that were registered for an account")
struct RegistrationChangeTests {
  /// Of the client `id` at the issuer of the tests.
  private static func registration(_ id: String, managed: Bool = true) throws -> ClientRegistrationRecord {
    var binding = DefinitionBinding.plain
    binding.clientID = id
    binding.revocationEndpoint = nil
    let uri = try WebURL("https://as.example/register/\(id)")
    return ClientRegistrationRecord(
      binding: binding, since: Moment.start,
      management: managed ? ClientManagement(uri: uri, accessToken: Secret("token of \(id)")) : nil)
  }

  private static var own: String { DefinitionBinding.plain.clientID }

  @Test("one stays with its login and through a logout, and is deleted when the account is forgotten")
  func forgotten() throws {
    let driver = MachineDriver(.loggedIn())
    driver.change(.register(try Self.registration(Self.own)))
    driver.saved()
    driver.change(.logout())
    driver.saved()
    #expect(driver.durable?.registrations?.count == 1)
    driver.change(.forget())
    driver.saved()
    let owed = try #require(driver.durable?.revocations.last)
    #expect(driver.durable?.registrations == nil && owed.token.secret == Secret("token of \(Self.own)"))
    #expect(owed.clientURI == "https://as.example/register/\(Self.own)" && owed.binding.revocationEndpoint == nil)
  }

  @Test("one that neither file nor login has is deleted when a login is there, or another is registered a while later")
  func replaced() throws {
    for isLogin in [true, false] {
      let driver = MachineDriver(.loggedIn())
      driver.change(.register(try Self.registration("other")))
      driver.saved()
      #expect(driver.durable?.revocations.isEmpty == true)
      if !isLogin { driver.pass(ClientRegistrationRecord.commandSeconds) }
      driver.change(isLogin ? .login("b1") : .register(try Self.registration(Self.own)))
      driver.saved()
      #expect(driver.durable?.revocations.last?.clientURI == "https://as.example/register/other")
      #expect(driver.durable?.registrations?.map(\.binding.clientID) ?? [] == (isLogin ? [] : [Self.own]))
    }
  }

  @Test("one of another command that has not written the file yet stays when a second is registered")
  func beside() throws {
    let driver = MachineDriver(.loggedIn())
    driver.change(.register(try Self.registration("other")))
    driver.saved()
    driver.pass(ClientRegistrationRecord.commandSeconds - 1)
    driver.change(.register(try Self.registration(Self.own)))
    driver.saved()
    #expect(driver.durable?.revocations.isEmpty == true && driver.durable?.registrations?.count == 2)
    driver.change(.register(try Self.registration(Self.own)))
    #expect(driver.durable?.registrations?.count == 2, "once")
  }

  @Test("a token is revoked before a client is deleted, which may wait for another account")
  func order() throws {
    var record = AccountRecord(name: "work")
    let deletion = try #require(try Self.registration(Self.own).deletion(at: Moment.start))
    let token = RevocationRecord(
      token: StoredSecret(Secret("r")), hint: "refresh_token", binding: .plain, since: Moment.start)
    record.revocations = [deletion]
    #expect(record.nextRevocations(at: .start) == [deletion])
    record.revocations.append(token)
    #expect(record.nextRevocations(at: .start) == [token])
    record.revocations[0].binding.proxy = "http://proxy.example"
    #expect(
      record.nextRevocations(at: .start).map(\.clientURI) == [nil, deletion.clientURI], "the other way may be gone")
  }

  @Test("the client of a login stays whatever its issuer is called by now")
  func moved() throws {
    let driver = MachineDriver(.loggedIn())
    var old = try Self.registration(Self.own)
    old.binding.issuer = "https://old.example"
    driver.change(.register(old))
    driver.saved()
    driver.change(.login("b1"))
    driver.saved()
    #expect(
      driver.durable?.registrations?.count == 1 && driver.durable?.revocations.contains { $0.clientURI != nil } == false
    )
  }

  @Test("one that its server gave no token for is known, and nobody is told of its end")
  func unmanaged() throws {
    let driver = MachineDriver(.loggedIn())
    driver.change(.register(try Self.registration(Self.own, managed: false)))
    driver.saved()
    #expect(driver.durable?.registration(of: .plain) != nil)
    driver.change(.forget())
    #expect(driver.log.last == "erase")
  }

  @Test("a record keeps it, and one from before has none")
  func coding() throws {
    var record = AccountRecord.loggedIn()
    record.registrations = [try Self.registration(Self.own)]
    record.revocations = [try #require(try Self.registration("gone").deletion(at: Moment.start))]
    let encoded = try JSONEncoder().encode(record)
    #expect(try JSONDecoder().decode(AccountRecord.self, from: encoded) == record)
    let before = try JSONEncoder().encode(AccountRecord.loggedIn())
    #expect(!String(decoding: before, as: UTF8.self).contains("registrations"))
    #expect(try JSONDecoder().decode(AccountRecord.self, from: before).registrations == nil)
  }
}
