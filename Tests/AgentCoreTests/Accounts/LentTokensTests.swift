import AgentWire
import FoundationEssentials
import OAuthProtocol
import OAuthTerms
import Testing

@testable import AgentCore

@Suite("What a login is bound to that is made of another account's token")
struct LentTokensTests {
  private static let file = LentTokens(subject: LentToken(account: "company"))
  private static let bound = LentTokens(subject: LentToken(account: "company", issuer: "https://id.example"))

  private func keys(_ was: LentTokens?, _ now: LentTokens?) -> [String] {
    LentTokens.differences(was, now).map(\.key)
  }

  @Test("tokens stand for another where their account, its server or the person is another, and by nothing else")
  func another() {
    var other = Self.bound
    other.subject.kind = .idToken
    other.actor = LentToken(account: "robot")
    other.requestedType = "urn:x"
    #expect(!LentTokens.areOfAnother(Self.bound, other))
    #expect(LentTokens.areOfAnother(Self.bound, LentTokens(subject: LentToken(account: "other"))))
    let elsewhere = LentTokens(subject: LentToken(account: "company", issuer: "https://other.example"))
    #expect(LentTokens.areOfAnother(Self.bound, elsewhere) && LentTokens.areOfAnother(nil, Self.bound))
  }

  @Test("a file is compared by the names in it, and what a login would be bound to by the issuers as well")
  func compared() {
    #expect(keys(Self.bound, Self.file).isEmpty)
    #expect(keys(Self.bound, LentTokens(subject: LentToken(account: "other"))) == ["subject_account"])
    let elsewhere = LentTokens(subject: LentToken(account: "company", issuer: "https://other.example"))
    #expect(
      LentTokens.differences(Self.bound, elsewhere) == [
        DefinitionDifference(
          key: "subject_account", was: "company, at https://id.example", now: "company, at https://other.example")
      ])
    #expect(keys(nil, Self.bound) == ["subject_account", "subject_token_type"])
    #expect(keys(Self.bound, nil) == ["subject_account", "subject_token_type"])
    var other = Self.file
    other.subject.kind = .idToken
    other.actor = LentToken(account: "robot")
    other.requestedType = "urn:x"
    #expect(
      keys(Self.bound, other) == [
        "subject_token_type", "actor_account", "actor_token_type", "requested_token_type",
      ])
  }

  private static func agreed(_ subject: String, _ who: String?) -> LentTokens {
    LentTokens(
      subject: LentToken(
        account: "company", issuer: "https://id.example",
        user: EndUser(issuer: "https://id.example", subject: subject, who: who)))
  }

  @Test(
    "who lends is compared where it was known, by what stays of a person, and is never shown as if it were the same")
  func users() {
    let alice = Self.agreed("1", "alice")
    #expect(keys(alice, Self.file).isEmpty)
    #expect(
      LentTokens.differences(Self.bound, alice) == [
        DefinitionDifference(
          key: "subject_account", was: "company, at https://id.example",
          now: "company, at https://id.example, as alice")
      ], "nobody was noted: it is agreed to whose they are")
    #expect(keys(alice, Self.agreed("1", "alice cooper")).isEmpty)
    #expect(
      LentTokens.differences(nil, alice).first
        == DefinitionDifference(key: "subject_account", was: "(none)", now: "company, at https://id.example, as alice"))
    let others = [
      (Self.agreed("2", "bob"), ", as bob"), (Self.agreed("2", "alice"), ", as another alice"),
      (Self.agreed("2", nil), ", as somebody"), (Self.bound, ""),
    ]
    for (other, end) in others {
      #expect(
        LentTokens.differences(alice, other) == [
          DefinitionDifference(
            key: "subject_account", was: "company, at https://id.example, as alice",
            now: "company, at https://id.example" + end)
        ])
    }
  }

  @Test("each member is part of the digest that a person agrees to")
  func digest() {
    let definition = AccountDefinition.plain.with { $0.grant = .tokenExchange }
    let changes: [(inout UnattendedRequest) -> Void] = [
      { _ in }, { $0.lent = Self.file }, { $0.lent = Self.bound }, { $0.grantType = "urn:x" },
      { $0.lent = LentTokens(subject: LentToken(account: "other")) },
      { $0.lent = Self.agreed("1", "alice") }, { $0.lent = Self.agreed("2", "alice") },
      { $0.lent = LentTokens(subject: LentToken(account: "company", kind: .jwt)) },
      { $0.lent = LentTokens(subject: LentToken(account: "company"), actor: LentToken(account: "robot")) },
      { $0.lent = LentTokens(subject: LentToken(account: "company"), requestedType: "urn:x") },
    ]
    let digests = changes.map { change -> String in
      guard var request = UnattendedRequest(definition) else { return "" }
      change(&request)
      var binding = DefinitionBinding.plain
      binding.request = request
      return binding.digest
    }
    #expect(Set(digests).count == changes.count)
  }

  @Test("a record from before reads as one that borrows nothing, and what is written is read")
  func stored() throws {
    let before = Data(#"{"scope":["a"],"resource":[],"audience":[]}"#.utf8)
    let old = try JSONDecoder().decode(UnattendedRequest.self, from: before)
    #expect(old.lent == nil && old.grantType == nil && old.scope == ["a"])
    var request = old
    request.lent = LentTokens(
      subject: Self.agreed("1", "alice").subject, actor: LentToken(account: "robot"),
      requestedType: "urn:x")
    request.grantType = "urn:y"
    #expect(try JSONDecoder().decode(UnattendedRequest.self, from: JSONEncoder().encode(request)) == request)
  }

  @Test("a grant that sends the token to one server does not become one that sends it to another by itself")
  func kinds() {
    #expect(GrantKind.tokenExchange.differences(to: .identityAssertion).map(\.key) == ["grant"])
    #expect(GrantKind.identityAssertion.differences(to: .tokenExchange).map(\.key) == ["grant"])
    #expect(GrantKind.tokenExchange.differences(to: .tokenExchange).isEmpty)
    #expect(GrantKind.clientCredentials.differences(to: .password).isEmpty)
  }
}
