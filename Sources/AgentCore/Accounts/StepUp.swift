import AgentWire
import HTTPTerms
import OAuthProtocol
import SystemFacts

/// Scopes that an API wants (`insufficient_scope`, RFC 6750 §3.1) and a login has not.
enum StepUp {
  /// Scopes of one request: no API asks for a tenth of them.
  static let limit = 32
  /// Bytes of one: those of Google and Microsoft have up to 150.
  static let scopeBytes = 256

  /// Throws `bad_request`.
  static func check(_ needed: [String]) throws(AgentFailure) {
    guard needed.count <= limit, needed.allSatisfy({ $0.utf8.count <= scopeBytes && ScopeList.isToken($0) }) else {
      throw AgentFailure(
        .badRequest, "needed_scope has up to \(limit) values of \(scopeBytes) bytes as RFC 6749 section 3.3 has them")
    }
  }

  /// Why the login cannot do what `needed` are for; nil: it has them all. `given`: what its tokens have. `asked`: what it
  /// was begun with. What the server left out then is not asked for in a circle: another login would not have it, either.
  static func failure(
    _ name: String, needed: [String], given: Set<String>, asked: Set<String>, host: String
  ) -> AgentFailure? {
    let missing = needed.filter { !given.contains($0) }
    guard !missing.isEmpty else { return nil }
    let new = missing.filter { !asked.contains($0) }
    var failure: AgentFailure
    if new.isEmpty {
      failure = AgentFailure(
        .serverRefused,
        "\(name): \(host) did not grant \(words(missing)), though the login asked for \(missing.count == 1 ? "it" : "them")",
        hint: "ask whoever is in charge of \(host) for that right, then: oauthctl login \(name)")
    } else {
      failure = AgentFailure(
        .loginRequired, "\(name): this login lacks \(words(new))", hint: .run(command(name, adding: new)))
    }
    failure.missingScope = missing
    return failure
  }

  /// An API wrote these words: a shell reads them as words, and nothing else.
  static func command(_ name: String, adding scopes: [String]) -> String {
    "oauthctl login \(name)"
      + scopes.map { scope in
        // One that begins with a dash would be read as an option.
        " --add-scope" + (scope.hasPrefix("-") ? "=" : " ") + ShellWord.quoted(scope)
      }.joined()
  }

  /// Microsoft Entra's scopes begin with a UUID (RFC 9562 §4), which looks like a token otherwise.
  static func withoutUUIDs(_ scope: String) -> String {
    let bytes = Array(scope.utf8)
    var kept: [UInt8] = []
    var index = 0
    while index < bytes.count {
      let parts = bytes[index...].prefix(uuidBytes).split(
        separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
      if parts.map(\.count) == [8, 4, 4, 4, 12], parts.joined().allSatisfy(isHexDigit) {
        index += uuidBytes
      } else {
        kept.append(bytes[index])
        index += 1
      }
    }
    return String(decoding: kept, as: UTF8.self)
  }

  private static let uuidBytes = 36

  private static func words(_ scopes: [String]) -> String {
    (scopes.count == 1 ? "the scope " : "the scopes ")
      + Escaped.forTerminal(scopes.joined(separator: " "), limit: 200)
  }
}

extension GrantRecord {
  /// What it was begun with; `definition` tells for records from before that was kept.
  func asked(_ definition: AccountDefinition?) -> Set<String> { Set(askedScope ?? definition?.scope ?? []) }

  /// What a refresh may name: what was granted (RFC 6749 §6), and the scope that a refresh token was asked for with, which
  /// servers seldom list. Microsoft Entra lists `RESOURCE/.default` beside what it stood for, and takes it with no other of a
  /// resource.
  var refreshScope: [String] {
    let offline = AccountDefinition.offlineAccess
    let whole = scope.filter { $0.hasSuffix("/.default") }
    let granted = whole.isEmpty ? scope : whole
    return askedScope?.contains(offline) == true && !granted.contains(offline) ? granted + [offline] : granted
  }

  /// What was asked for and not granted. A refresh token is what `offline_access` asks for, whatever the scope says.
  func notGranted(_ definition: AccountDefinition?) -> [String] {
    (askedScope ?? definition?.scope ?? []).filter {
      !scope.contains($0) && !($0 == AccountDefinition.offlineAccess && refreshToken != nil)
    }
  }
}

extension CredentialService {
  /// Throws where the login of `name` lacks what a request needs. `asked` are the scopes that its token is asked for with.
  func checkNeeded(_ request: TokenGet, _ name: String) throws(AgentFailure) {
    guard let needed = request.neededScope, !needed.isEmpty else { return }
    try StepUp.check(needed)
    guard let machine = accounts[name]?.machine, let record = machine.record, let grant = record.grant else { return }
    // An API that repeats a token as a scope must not get it into what a person is shown.
    let known = (grant.scope + grant.asked(machine.definition)).map(StepUp.withoutUUIDs)
    let kept =
      record.tokens.map(\.accessToken) + [grant.refreshToken, record.clientSecret, record.password].compactMap(\.self)
    let secrets = RequestSecrets(kept.map(\.secret), publicTexts: known)
    guard !secrets.mayBe(in: needed.map(StepUp.withoutUUIDs).joined(separator: " ")) else {
      throw AgentFailure(.badRequest, "needed_scope holds what looks like a token")
    }
    let given = Set(grant.scope).union(record.token(.standard)?.scope ?? []).union(request.scope ?? [])
    let failure = StepUp.failure(
      name, needed: needed, given: given, asked: grant.asked(machine.definition), host: grant.binding.issuerHost)
    if let failure { throw failure }
  }
}
