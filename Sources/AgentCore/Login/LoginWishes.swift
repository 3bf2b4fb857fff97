import AgentWire
import OAuthProtocol

/// What a caller wants of one login alone, beside what the account's file says.
struct LoginWishes: Sendable, Equatable {
  /// Longest name or address of a person, bytes: an address has 254 at most (RFC 5321 §4.5.3.1).
  private static let nameBytes = 320
  /// Longest `max_age`: a year, in seconds.
  private static let maximumAgeLimit = 365 * 86_400
  /// OpenID Connect Core 1.0 §3.1.2.1
  private static let prompts: Set<String> = ["login", "consent", "select_account"]

  var prompt: String?
  var maximumAgeSeconds: Int?
  var loginHint: String?
  /// Who has to be logged in at its end: by `sub`, `preferred_username` or `email`.
  var user: String?

  init() {}

  /// Throws `bad_request`.
  init(_ request: LoginStart) throws(AgentFailure) {
    if let prompt = request.prompt {
      let words = prompt.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
      // `none` asks for no page, and stands alone.
      guard words == ["none"] || words.allSatisfy(Self.prompts.contains) && Set(words).count == words.count else {
        throw AgentFailure(.badRequest, "prompt is none, or of login, consent and select_account")
      }
    }
    if let seconds = request.maximumAgeSeconds, !(0...Self.maximumAgeLimit).contains(seconds) {
      throw AgentFailure(.badRequest, "max_age is 0 to \(Self.maximumAgeLimit)")
    }
    for (name, text) in [("login_hint", request.loginHint), ("user", request.user)] {
      guard let text else { continue }
      guard (1...Self.nameBytes).contains(text.utf8.count), !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
      else { throw AgentFailure(.badRequest, "\(name) has 1 to \(Self.nameBytes) bytes and no control characters") }
    }
    prompt = request.prompt
    maximumAgeSeconds = request.maximumAgeSeconds
    loginHint = request.loginHint
    user = request.user
  }

  /// Whether nothing but an authorization page could grant them.
  var areForBrowser: Bool { prompt != nil || maximumAgeSeconds != nil || loginHint != nil }

  /// What the authorization request gets beside the protocol's own, by name: a wish outweighs the account's file.
  func parameters(_ definition: AccountDefinition) -> [ExtraParameter] {
    var parameters = definition.authorizeParameters
    if let hint = definition.username, parameters["login_hint"] == nil { parameters["login_hint"] = hint }
    // Without it a server gives no refresh token for this scope (OpenID Connect Core §11).
    if definition.wantsOfflineAccess, parameters["prompt"] == nil { parameters["prompt"] = "consent" }
    if let prompt { parameters["prompt"] = prompt }
    if let maximumAgeSeconds { parameters["max_age"] = String(maximumAgeSeconds) }
    if let loginHint { parameters["login_hint"] = loginHint }
    return parameters.sorted { $0.key < $1.key }.map { ExtraParameter($0.key, $0.value) }
  }

  /// `max_age` as it is sent, seconds; nil: it is not.
  func maximumAge(_ definition: AccountDefinition) -> Int? {
    maximumAgeSeconds ?? definition.authorizeParameters["max_age"].flatMap { Int($0) }
  }
}
