import AgentWire
import OAuthProtocol
import OAuthTerms

/// What a caller wants of one login alone, beside what the account's file says.
struct LoginWishes: Sendable, Equatable {
  var prompt: String?
  var maximumAgeSeconds: Int?
  var loginHint: String?
  /// Who has to be logged in at its end: by `sub`, `preferred_username` or `email`.
  var user: String?

  init() {}

  /// Throws `bad_request`.
  init(_ request: LoginStart) throws(AgentFailure) {
    if let prompt = request.prompt, !LoginWish.isPrompt(prompt) {
      throw AgentFailure(.badRequest, "prompt is \(LoginWish.promptChoice)")
    }
    if let seconds = request.maximumAgeSeconds, !LoginWish.maximumAgeSeconds.contains(seconds) {
      throw AgentFailure(.badRequest, "max_age is 0 to \(LoginWish.maximumAgeSeconds.upperBound)")
    }
    for (name, text) in [("login_hint", request.loginHint), ("user", request.user)] {
      guard let text, !LoginWish.isName(text) else { continue }
      throw AgentFailure(
        .badRequest, "\(name) has 1 to \(LoginWish.nameBytes.upperBound) bytes and no control characters")
    }
    prompt = request.prompt
    maximumAgeSeconds = request.maximumAgeSeconds
    loginHint = request.loginHint
    user = request.user
  }

  /// Whether the server is asked to let a person choose among accounts there.
  var letsChooseAccount: Bool { prompt?.split(separator: " ").contains("select_account") == true }

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
