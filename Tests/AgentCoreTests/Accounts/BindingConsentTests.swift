import AgentWire
import Testing

@testable import AgentCore

@Suite("What a person agrees to: the binding and the change that was shown")
struct BindingConsentTests {
  private func digest(_ differences: (String, String, String)...) -> String {
    BindingConsent(
      binding: .plain, differences: differences.map { DefinitionDifference(key: $0, was: $1, now: $2) }, logins: [],
      secrets: SecretOrders(nil)
    ).digest
  }

  @Test("The same result of another change is another agreement")
  func changes() {
    let shown = digest(("issuer", "https://a.example", "https://b.example"))
    #expect(shown == digest(("issuer", "https://a.example", "https://b.example")))
    let others = [
      digest(), digest(("issuer", "https://c.example", "https://b.example")),
      digest(("issuer", "https://a.example", "https://c.example")),
      digest(("proxy", "https://a.example", "https://b.example")),
      digest(("issuer", "https://a.exampleh", "ttps://b.example")),
    ]
    #expect(Set(others + [shown]).count == others.count + 1)
  }

  @Test("Another binding is another agreement")
  func bindings() {
    var other = DefinitionBinding.plain
    other.proxy = "http://proxy.example"
    #expect(BindingConsent(binding: other, differences: [], logins: [], secrets: SecretOrders(nil)).digest != digest())
  }

  @Test("Another login, of the account or of a lender, is another agreement, and so is another secret")
  func lenders() {
    let none = SecretOrders(nil)
    #expect(BindingConsent(binding: .plain, differences: [], logins: ["a"], secrets: none).digest != digest())
    for secret in [\AccountRecord.clientSecretOrder, \.passwordOrder] {
      var record = AccountRecord(name: "work")
      record[keyPath: secret] = 1
      let secrets = SecretOrders(record)
      #expect(BindingConsent(binding: .plain, differences: [], logins: [], secrets: secrets).digest != digest())
    }
  }
}
