import HTTPTerms
import HelperFormats
import Testing

@Suite("Proofs of possession beside a token")
struct ProofTests {
  @Test(
    "the method is the one that curl sends",
    arguments: [
      ([], "GET"), (["-X", "PATCH"], "PATCH"), (["-X", "PUT", "--request", "DELETE"], "DELETE"), (["-I"], "HEAD"),
      (["-d", "a"], "POST"), (["--data-raw", "a", "-G"], "GET"), (["-F", "a=b"], "POST"), (["--json", "{}"], "POST"),
      (["-T", "file"], "PUT"), (["-T", "file", "-X", "POST"], "POST"), (["--data-urlencode", "a"], "POST"),
    ])
  func method(words: [String], method: String) throws {
    #expect(try CurlArguments(words + ["https://api.example/"]).method == method)
  }

  @Test(
    "what makes another request of it stands in the way of a proof",
    arguments: [
      ([], nil), (["-d", "a"], nil), (["-L"], "--location"), (["-L", "--no-location"], nil),
      (["--request-target", "/x"], "--request-target"), (["--path-as-is"], "--path-as-is"),
      (["--retry", "2"], "--retry"), (["-T", "file"], nil), (["-T", "{a,b}"], "--upload-file"),
      (["-T", "a", "-T", "b"], "--upload-file"), (["--follow"], "--follow"),
      (["https://api.example/other"], "several URLs"), (["https://api.example/{a,b}"], "several URLs"),
    ] as [([String], String?)])
  func obstacles(words: [String], obstacle: String?) throws {
    let arguments = try CurlArguments(["https://api.example/x"] + words)
    let urls = try arguments.urls.map { try CurlURL($0, globbing: true) }
    #expect(arguments.obstacleToProof(urls) == obstacle)
  }

  @Test("a file that is uploaded to a folder has its name added", arguments: ["", "/", "/dir/", "/dir/?x", "#f"])
  func folder(path: String) throws {
    let url = "https://api.example" + path
    for (words, obstacle) in [(["-T", "file", url], "--upload-file to a folder"), ([url], nil)] {
      let arguments = try CurlArguments(words)
      #expect(arguments.obstacleToProof([try CurlURL(url, globbing: true)]) == obstacle)
    }
  }

  @Test(
    "a proof is made for the URL as curl asks for it, its scheme added, its query left out",
    arguments: [
      ("api.example/a%7Eb?x#y", "https://api.example/a%7Eb"), ("http://127.0.0.1:80", "http://127.0.0.1:80"),
      ("https://API.example/#f", "https://API.example/"),
    ])
  func target(typed: String, target: String) throws {
    #expect(try CurlURL(typed, globbing: true).target == target)
  }

  private func dump(_ fields: String...) throws -> HeaderDump {
    try #require(
      HeaderDump(Array(("HTTP/1.1 401 Unauthorized\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n").utf8)))
  }

  @Test("a 401 that wants a nonce is told from one that refuses the token, and neither is a Bearer token's")
  func challenges() throws {
    let nonce = try dump(#"WWW-Authenticate: DPoP error="use_dpop_nonce""#, "DPoP-Nonce: n-1")
    #expect(nonce.isRejection("dpop") && nonce.wantsNonce && nonce.nextNonce == "n-1" && !nonce.isRejection())
    let token = try dump(#"WWW-Authenticate: DPoP error="invalid_token""#, "DPoP-Nonce: n-2")
    #expect(token.isRejection("dpop") && !token.wantsNonce && token.nextNonce == "n-2" && !token.isRejection())
    let proof = try dump(#"WWW-Authenticate: DPoP error="invalid_dpop_proof""#)
    #expect(!proof.isRejection("dpop") && !proof.wantsNonce)
    let none = try dump(#"WWW-Authenticate: DPoP error="use_dpop_nonce""#, "DPoP-Nonce: a b")
    #expect(!none.wantsNonce && none.nextNonce == nil)
  }

  @Test("token and proof are two fields, as lines, as an object and for curl")
  func fields() throws {
    #expect(
      try AuthorizationHeader.fields(tokenType: "DPoP", token: "t", proof: "a.b.c")
        == "Authorization: DPoP t\nDPoP: a.b.c")
    #expect(
      try AuthorizationHeader.jsonObject(tokenType: "DPoP", token: "t", proof: "a.b.c")
        == #"{"Authorization":"DPoP t","DPoP":"a.b.c"}"#)
    #expect(try AuthorizationHeader.curlConfig(proof: "a.b.c") == "header = \"DPoP: a.b.c\"\n")
    for proof in ["", "a b", "a\r\nX: y"] {
      #expect(throws: HelperFormatError.self) { try AuthorizationHeader.curlConfig(proof: proof) }
    }
  }
}
