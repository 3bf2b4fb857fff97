import FoundationEssentials
import HTTPTerms
import Sealing
import Testing

@testable import OAuthProtocol

@Suite("Proofs of possession (RFC 9449)")
struct ProofOfPossessionTests {
  private func parts(_ proof: ProofOfPossession) throws -> [String] {
    let jwk =
      #"{"crv":"P-256","kty":"EC","x":"l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs","y":"9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA"}"#
    let text = try proof.signed(algorithm: "ES256", publicKey: jwk) { input in
      #expect(String(decoding: input, as: UTF8.self).split(separator: ".").count == 2)
      return [1, 2, 3]
    }
    let parts = text.split(separator: ".").map(String.init)
    #expect(parts.count == 3 && parts[2] == Base64URL.encode([1, 2, 3]))
    return try parts.prefix(2).map { String(decoding: try #require(Base64URL.decode($0)), as: UTF8.self) }
  }

  @Test("the proof of the RFC's example for a token request (§4.2)")
  func atTokenEndpoint() throws {
    let parts = try parts(
      ProofOfPossession(
        method: "POST", url: try WebURL("https://server.example.com/token"), issuedAt: 1_562_262_616,
        id: "-BwC3ESc6acc2lTc"))
    #expect(
      parts[0]
        == #"{"alg":"ES256","jwk":{"crv":"P-256","kty":"EC","x":"l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs","y":"9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA"},"typ":"dpop+jwt"}"#
    )
    #expect(
      parts[1]
        == #"{"htm":"POST","htu":"https://server.example.com/token","iat":1562262616,"jti":"-BwC3ESc6acc2lTc"}"#)
  }

  @Test("the hash of the RFC's example token is in the proof for a resource, with the server's nonce (§7.1)")
  func atResource() throws {
    let parts = try parts(
      ProofOfPossession(
        method: "GET", url: try WebURL("https://resource.example.org/protectedresource"), issuedAt: 1_562_262_618,
        id: "e1j3V_bKic8-LAEB", accessToken: Secret("Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU"),
        nonce: "eyJ7S_zG.eyJH0-Z.HX4w-7v"))
    #expect(
      parts[1]
        == #"{"ath":"fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo","htm":"GET","#
        + #""htu":"https://resource.example.org/protectedresource","iat":1562262618,"jti":"e1j3V_bKic8-LAEB","#
        + #""nonce":"eyJ7S_zG.eyJH0-Z.HX4w-7v"}"#)
  }

  @Test(
    "htu is the URL without query, its scheme, host and port as RFC 3986 §6.2 normalizes them",
    arguments: [
      ("https://API.example.com:443/A/b?c=d", "https://api.example.com/A/b"),
      ("https://api.example.com", "https://api.example.com/"),
      ("https://api.example.com?x", "https://api.example.com/"),
      ("https://api.example.com:8443/%7Ea/", "https://api.example.com:8443/%7Ea/"),
      ("http://127.0.0.1:80/t", "http://127.0.0.1/t"), ("https://[2001:DB8::1]/", "https://[2001:db8::1]/"),
    ])
  func target(url: String, target: String) throws { #expect(ProofOfPossession.target(of: try WebURL(url)) == target) }

  @Test(
    "a nonce is demanded by 400 or 401 with that error and a nonce that can be used",
    arguments: [
      (400, "use_dpop_nonce", "n-1", "n-1"), (401, "use_dpop_nonce", "n-1", "n-1"),
      (403, "use_dpop_nonce", "n-1", nil), (200, "use_dpop_nonce", "n-1", nil), (400, "invalid_grant", "n-1", nil),
      (400, "use_dpop_nonce", "n 1", nil),
      (400, "use_dpop_nonce", nil, nil),
    ] as [(Int, String, String?, String?)])
  func demanded(status: Int, error: String, nonce: String?, demanded: String?) {
    let answer = HTTPAnswer(
      status: status, headers: nonce.map { [HTTPField("dpop-nonce", $0)] } ?? [],
      body: Secret(#"{"error":"\#(error)"}"#))
    #expect(answer.demandedNonce == demanded)
  }

  @Test(
    "an answer that says twice what is wrong, or is no object, demands none",
    arguments: ["{", "", "<html>", #"{"error":"use_dpop_nonce","error":"x"}"#])
  func undecided(body: String) {
    #expect(HTTPAnswer(status: 400, headers: [HTTPField("DPoP-Nonce", "n")], body: Secret(body)).demandedNonce == nil)
  }
}

@Suite("Answers to requests with a proof")
struct BoundTokenTests {
  private func judge(_ body: String, status: Int = 200, isProven: Bool) -> TokenJudgement {
    var request = HTTPRequest(.post, "https://as.example/token", body: Secret("grant_type=x"))
    if isProven { request.headers.append(HTTPField("DPoP", "a.b.c")) }
    return TokenJudgement(judging: HTTPAnswer(status: status, body: Secret(body)), to: request, now: 0)
  }

  @Test("a DPoP token is taken where a key was proved, and there alone", arguments: ["DPoP", "dpop", "DPOP"])
  func dpop(type: String) throws {
    let body = #"{"access_token":"at","token_type":"\#(type)","refresh_token":"R"}"#
    guard case .granted(let granted) = judge(body, isProven: true).verdict else {
      Issue.record("not granted")
      return
    }
    #expect(granted.tokenType == .dpop)
    guard case .unusable(.tokenType, _) = judge(body, isProven: false).verdict else {
      Issue.record("taken as Bearer")
      return
    }
  }

  @Test(
    "a token that is not bound is refused where a key was proved, and its refresh token is kept all the same",
    arguments: [#""token_type":"Bearer","#, #""token_type":"mac","#, ""])
  func downgraded(type: String) {
    let judgement = judge(#"{"access_token":"at",\#(type)"refresh_token":"R"}"#, isProven: true)
    guard case .unusable(.notBound, _) = judgement.verdict else {
      Issue.record("\(judgement.verdict)")
      return
    }
    #expect(judgement.salvagedRefreshToken == Secret("R"))
    #expect("\(judgement.verdict)".contains("DPoP"))
  }

  @Test("a nonce that is wanted again decides nothing of a grant that proved its key, and refuses one that proved none")
  func nonce() {
    guard case .unusable(.transient, _) = judge(#"{"error":"use_dpop_nonce"}"#, status: 400, isProven: true).verdict,
      case .refused(let error) = judge(#"{"error":"use_dpop_nonce"}"#, status: 400, isProven: false).verdict
    else {
      Issue.record("judged otherwise")
      return
    }
    #expect(error.advice?.action == .other("log in with --dpop, or write dpop = true into the account's file"))
  }
}
