import Sealing
import Testing

@testable import OAuthProtocol

@Suite("What a server's refusal says to a person")
struct ErrorAdviceTests {
  private func told(_ code: String, _ explanation: String? = nil) throws -> String {
    try #require(OAuthError(code: code, explanation: explanation)).told
  }

  /// As the registries and the specifications list them.
  static let specified: [(String, [String])] = [
    (
      "RFC 6749 §4.1.2.1",
      [
        "invalid_request", "unauthorized_client", "access_denied", "unsupported_response_type", "invalid_scope",
        "server_error", "temporarily_unavailable",
      ]
    ),
    (
      "RFC 6749 §5.2",
      [
        "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type",
        "invalid_scope",
      ]
    ),
    ("RFC 6750 §3.1", ["invalid_request", "invalid_token", "insufficient_scope"]),
    ("RFC 7009 §2.2.1", ["unsupported_token_type"]),
    (
      "RFC 7591 §3.2.2",
      [
        "invalid_redirect_uri", "invalid_client_metadata", "invalid_software_statement",
        "unapproved_software_statement",
      ]
    ),
    ("RFC 8628 §3.5", ["authorization_pending", "slow_down", "access_denied", "expired_token"]),
    ("RFC 8693 §2.2.2", ["invalid_request", "invalid_target"]),
    ("RFC 8707 §2", ["invalid_target"]),
    (
      "RFC 9101 §7",
      ["invalid_request_uri", "invalid_request_object", "request_not_supported", "request_uri_not_supported"]
    ),
    ("RFC 9126 §2.3", ["invalid_request", "invalid_request_object", "unauthorized_client"]),
    ("RFC 9396 §5", ["invalid_authorization_details"]),
    ("RFC 9449 §5, §8", ["invalid_dpop_proof", "use_dpop_nonce"]),
    ("RFC 9470 §3", ["insufficient_user_authentication"]),
    (
      "OpenID Connect Core §3.1.2.6",
      [
        "interaction_required", "login_required", "account_selection_required", "consent_required",
        "invalid_request_uri", "invalid_request_object", "request_not_supported", "request_uri_not_supported",
        "registration_not_supported",
      ]
    ),
    ("OpenID Connect Core Error Code unmet_authentication_requirements", ["unmet_authentication_requirements"]),
    (
      "GitHub, Slack, Google, Microsoft, Salesforce",
      [
        "bad_verification_code", "incorrect_client_credentials", "device_flow_disabled", "admin_policy_enforced",
        "invalid_refresh_token", "bad_client_secret", "invalid_client_id", "internal_error", "invalid_resource",
        "inactive_user",
      ]
    ),
  ]

  @Test("Each code of the specifications has a sentence and something to do", arguments: specified)
  func registered(place: String, codes: [String]) {
    for code in codes { #expect(ErrorAdvice(code: code, explanation: nil) != nil, "\(place): \(code)") }
  }

  @Test("Each code that is known is shown, even where a secret is spelled alike")
  func shown() {
    for code in ErrorAdvice.codes.keys {
      #expect(OAuthError(code: code, hiding: RequestSecrets([Secret(code)]))?.code == code)
    }
    #expect(OAuthError(code: "no_such_code", hiding: RequestSecrets([Secret("no_such_code")])) == nil)
    #expect(ErrorAdvice(code: "no_such_code", explanation: "no such words") == nil)
  }

  @Test(
    "Words that say more than their code choose the step",
    arguments: [
      ("access_denied", "Unauthorized", .checkClient), ("access_denied", "User is Unauthorized", .logIn),
      ("invalid_scope", "Unauthorized", .checkScope),
      (
        "access_denied", "Policy evaluation failed for this request, please check the policy configuration.",
        .askAdministrator
      ),
      ("unauthorized_client", "refresh_token is invalid", .logIn), ("unauthorized_client", "unknown", .checkClient),
      ("invalid_grant", "reauth related error (invalid_rapt)", .logIn),
    ] as [(String, String, ErrorAdvice.Action)])
  func wordings(code: String, explanation: String, action: ErrorAdvice.Action) {
    #expect(ErrorAdvice(code: code, explanation: explanation)?.action == action)
  }

  @Test("A sentence follows a colon: small, without a full stop, and on one line")
  func sentences() {
    for advice in Array(ErrorAdvice.codes.values) + Array(ErrorAdvice.microsoft.values) {
      let first = advice.sentence.first
      #expect(first?.isLowercase == true || advice.sentence.hasPrefix("Google"), "\(advice.sentence)")
      #expect(!advice.sentence.hasSuffix(".") && !advice.sentence.contains("\n"), "\(advice.sentence)")
    }
  }

  @Test("The number in Microsoft's words, and Google's subtype, say more than the code")
  func details() throws {
    #expect(
      try told("invalid_grant", "AADSTS50173: The provided grant has expired due to it being revoked.")
        == "invalid_grant (AADSTS50173: The provided grant has expired due to it being revoked.): your password was "
        + "changed, which ended the login")
    #expect(try told("invalid_grant", "reauth related error (invalid_rapt)").hasSuffix("anew from time to time"))
    #expect(try told("invalid_grant", "AADSTS999999999999999999: new").hasSuffix("was used before, or was taken back"))
    #expect(try told("invalid_client", "see AADSTS7000222").hasSuffix(": the client secret has expired"))
    #expect(ErrorAdvice.detailed(by: "AADSTS") == nil && ErrorAdvice.detailed(by: "aadsts50173") == nil)
  }

  @Test("A code that nobody knows is told as it is")
  func unknown() throws {
    #expect(try told("odd_code", "Odd.") == "odd_code (Odd.)")
  }
}
