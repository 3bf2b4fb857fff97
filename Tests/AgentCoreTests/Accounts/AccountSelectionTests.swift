import AgentCore
import AgentWire
import Testing

@Suite("Which account a request means")
struct AccountSelectionTests {
  private static let host = "https://h.example"

  private struct One {
    var name: String
    var isLoggedIn = true
    var isWorking = true
    var username: String?
    var gitUsername = "oauth2"
    var paths: [String] = []
    var isDefault = false
    var holdsRejected = false
  }

  private func candidate(_ one: One) -> AccountSelection.Candidate {
    let definition = AccountDefinition(
      name: one.name, issuer: Self.host, clientID: "c", username: one.username, gitUsername: one.gitUsername,
      paths: one.paths, isDefault: one.isDefault)
    return AccountSelection.Candidate(
      definition, hosts: HostPolicy(definition, boundTo: nil), isLoggedIn: one.isLoggedIn,
      isWorking: one.isWorking, holdsRejected: one.holdsRejected)
  }

  private func select(_ ones: [One], _ username: String? = nil, path: String = "/") -> Result<String, AgentFailure> {
    do throws(AgentFailure) {
      let wish = AccountSelection.Wish(url: Self.host + path, username: username)
      return .success(try AccountSelection.select(wish, among: ones.map(candidate)).name)
    } catch { return .failure(error) }
  }

  private func name(_ ones: [One], _ username: String? = nil, path: String = "/") -> String? {
    try? select(ones, username, path: path).get()
  }

  private func failure(_ ones: [One], _ username: String? = nil, path: String = "/") -> AgentFailure? {
    if case .failure(let failure) = select(ones, username, path: path) { failure } else { nil }
  }

  @Test("One that was never logged in is in nobody's way")
  func neverLoggedIn() {
    #expect(name([One(name: "work"), One(name: "new", isLoggedIn: false)]) == "work")
    #expect(name([One(name: "new", isLoggedIn: false)]) == "new", "alone, it says that a login is needed")
    let none = failure([One(name: "b", isLoggedIn: false), One(name: "a", isLoggedIn: false)])
    #expect(
      none?.kind == .loginRequired && none?.hint == .run("oauthctl login a   # or: oauthctl login b")
        && none?.accounts == ["a", "b"])
  }

  @Test("A host that is not the account's is told with the line that makes it so, the present hosts first")
  func notServed() {
    let wish = AccountSelection.Wish(account: "work", url: "https://api.example/x")
    #expect {
      try AccountSelection.select(wish, among: [candidate(One(name: "work"))])
    } throws: { error in
      let hint = (error as? AgentFailure)?.hint?.text
      return hint?.contains("hosts = [\"https://h.example\", \"https://api.example\"]") == true
        && hint?.hasSuffix("then: oauthctl account accept work") == true
    }
  }

  @Test("Two that fit are told by name")
  func ambiguous() {
    let both = failure([One(name: "work"), One(name: "other")])
    #expect(both?.kind == .accountAmbiguous && both?.accounts == ["other", "work"])
    #expect(both?.message == "2 accounts fit https://h.example: other, work")
    let dead = failure([One(name: "a", isWorking: false), One(name: "work"), One(name: "other")])
    #expect(dead?.accounts == ["other", "work", "a"], "those that work come first")
    let defaults = failure([One(name: "work", isDefault: true), One(name: "other", isDefault: true)])
    #expect(defaults?.message == "2 accounts fit https://h.example, each as the default: other, work")
    #expect(defaults?.hint == "take  default = true  out of the files of all but one")
    let idle = failure([One(name: "a"), One(name: "b"), One(name: "c", isLoggedIn: false, isDefault: true)])
    #expect(idle?.hint == AccountSelection.idleDefaultStep("c") && idle?.accounts == ["a", "b"])
  }

  @Test("Beside one that nobody can read: meant by name, path or token; not by another's name or path; else perhaps")
  func fit() {
    func fit(_ one: One, _ username: String? = nil, path: String = "/") -> AccountSelection.Candidate.Fit {
      candidate(one).fit(.init(url: Self.host + path, username: username))
    }
    for name in [nil, "", "oauth2"] as [String?] { #expect(fit(One(name: "a"), name) == .perhaps) }
    for name in ["a", "u", "g"] { #expect(fit(One(name: "a", username: "u", gitUsername: "g"), name) == .meant) }
    #expect(fit(One(name: "a"), "b") == .other)
    #expect(fit(One(name: "a", paths: ["team"]), path: "/team/x.git") == .meant)
    #expect(fit(One(name: "a", paths: ["team"]), path: "/else") == .other)
    #expect(fit(One(name: "a", holdsRejected: true), "b") == .meant)
    #expect(fit(One(name: "a", isLoggedIn: false)) == .other)
  }

  @Test("All of four are named as commands; of more, three and that there are others")
  func commands() {
    func hint(_ count: Int) -> String? {
      failure((1...count).map { One(name: "a\($0)", isLoggedIn: false) })?.hint?.text
    }
    #expect(hint(4)?.contains("oauthctl login a4") == true)
    #expect(hint(5) == "oauthctl login a1   # or: oauthctl login a2   # or: oauthctl login a3   # or: another of them")
  }

  @Test("A user name means an account's own name, its username, or its name for git")
  func username() {
    let ones = [
      One(name: "work", username: "alice"), One(name: "other", gitUsername: "bob"),
      One(name: "third", isLoggedIn: false),
    ]
    #expect(name(ones, "work") == "work")
    #expect(name(ones, "alice") == "work")
    #expect(name(ones, "bob") == "other")
    #expect(name(ones, "third") == "third", "and not the token of another, though it is not logged in")
    #expect(failure(ones, "oauth2")?.kind == .accountAmbiguous, "a name that stands for anybody")
    #expect(failure(ones, "")?.kind == .accountAmbiguous)
  }

  @Test("A user name that no account answers to is refused by name, and not given another's token")
  func unknownUsername() {
    let refused = failure([One(name: "work"), One(name: "other")], "carol")
    #expect(refused?.kind == .accountUnknown && refused?.accounts == ["other", "work"])
    #expect(refused?.message.contains("answers to the user name carol") == true)
    #expect(failure([One(name: "work", username: "alice")], "carol")?.kind == .accountUnknown)
    #expect(failure([One(name: "work", gitUsername: "alice")], "carol")?.kind == .accountUnknown)
    #expect(name([One(name: "work")], "carol") == "work", "the only one, which does not say whose it is")
  }

  @Test("The longest path prefix decides, by whole segments; those without paths take the rest")
  func paths() {
    let ones = [
      One(name: "team", paths: ["team"]), One(name: "app", paths: ["team/app", "x"]), One(name: "rest"),
    ]
    #expect(name(ones, path: "/team/lib.git") == "team")
    #expect(name(ones, path: "/team/app.git") == "app")
    #expect(name(ones, path: "/team/app.git/info/lfs") == "app")
    #expect(name(ones, path: "/team/app") == "app")
    #expect(name(ones, path: "/teams/app.git") == "rest")
    #expect(name(ones, path: "/") == "rest")
    #expect(name([One(name: "team", paths: ["team"])], path: "/else") == "team", "alone, paths choose nothing")
    #expect(
      failure([One(name: "a", paths: ["x"]), One(name: "b", paths: ["y"])], path: "/z")?.kind == .accountAmbiguous)
  }

  @Test("A default is taken where nothing else decides")
  func defaults() {
    let ones = [One(name: "work", isDefault: true), One(name: "other", paths: ["team"]), One(name: "third")]
    #expect(name(ones) == "work")
    #expect(name(ones, path: "/team/app") == "other")
    #expect(name(ones, "third") == "third")
    #expect(failure([One(name: "a", isDefault: true), One(name: "b", isDefault: true)])?.kind == .accountAmbiguous)
  }

  @Test("Who holds the rejected token is meant, whatever the user name says")
  func holder() {
    #expect(name([One(name: "work"), One(name: "other", holdsRejected: true)], "carol") == "other")
  }
}
