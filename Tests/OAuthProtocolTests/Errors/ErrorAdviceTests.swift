import Testing

@testable import OAuthProtocol

@Suite("What a server's refusal says to a person")
struct ErrorAdviceTests {
  private func told(_ code: String, _ explanation: String? = nil) throws -> String {
    try #require(OAuthError(code: code, explanation: explanation)).told
  }

  @Test("Each code of RFC 6749, 7591, 8628 and 8707 has a sentence and something to do")
  func registered() {
    let codes = [
      "invalid_request", "unauthorized_client", "access_denied", "unsupported_response_type", "invalid_scope",
      "server_error", "temporarily_unavailable", "invalid_client", "invalid_grant", "unsupported_grant_type",
      "unsupported_token_type", "invalid_token", "insufficient_scope", "expired_token", "invalid_target",
      "invalid_dpop_proof", "use_dpop_nonce", "invalid_redirect_uri", "invalid_client_metadata",
      "invalid_software_statement", "unapproved_software_statement", "bad_verification_code",
      "incorrect_client_credentials", "device_flow_disabled", "admin_policy_enforced",
    ]
    for code in codes { #expect(ErrorAdvice(code: code, explanation: nil) != nil, "\(code)") }
    #expect(ErrorAdvice(code: "no_such_code", explanation: "no such words") == nil)
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
