import Testing

@testable import HelperFormats

@Suite("What git says of a token that was refused")
struct GitEraseTests {
  private func rejected(_ lines: String) throws -> (url: String, token: String)? {
    GitOperation.rejected(try GitCredentialRequest(Array("protocol=https\nhost=git.example\n\(lines)".utf8)))
  }

  @Test("Every spelling of the token is taken back", arguments: ["a", "ab", "abc", "abcd", "t0ken:with:colons"])
  func spellings(token: String) throws {
    #expect(try rejected("username=oauth2\npassword=\(token)\n")?.token == token)
    #expect(try rejected("authtype=Bearer\ncredential=\(token)\n")?.token == token)
    for username in ["oauth2", "x-access-token", "a"] {
      let credential = BasicCredential.encode(username: username, token: token)
      #expect(try rejected("authtype=basic\ncredential=\(credential)\n")?.token == token)
    }
  }

  @Test("Base64 as RFC 4648 has it")
  func base64() {
    #expect(BasicCredential.encode(username: "Aladdin", token: "open sesame") == "QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
    #expect(BasicCredential.token(in: "QWxhZGRpbjpvcGVuIHNlc2FtZQ==") == "open sesame")
    for bad in ["QWxh", "QWxhZGRpbjpvcGVuIHNlc2FtZQ", "QWxhZGR!", "====", "", "OgD/"] {
      #expect(BasicCredential.token(in: bad).map { $0.isEmpty } != false)
    }
  }

  @Test("After the second token of one command nothing is marked: it is not the token that is wrong")
  func lastRound() throws {
    let hex = String(repeating: "a", count: 32)
    #expect(try rejected("password=t\nstate[]=oauthctl:2:first:\(hex):work\n") != nil)
    #expect(try rejected("password=t\nstate[]=oauthctl:2:last:\(hex):work\n") == nil)
    #expect(try rejected("password=t\nstate[]=other:2:last:\(hex):work\n") != nil)
  }

  @Test(
    "The path is told where git tells it, as one that nobody reads in two ways",
    arguments: [
      ("team/app.git", "team/app.git"), ("a b/\u{E9}", "a%20b/%C3%A9"), ("a%2fb", "a%252fb"), ("a/../b", ""),
      ("/a//b/", "a/b"),
      ("a?x#y", "a%3Fx%23y"), (String(repeating: "a", count: 1_025), ""),
    ])
  func paths(path: String, told: String) throws {
    #expect(try rejected("path=\(path)\npassword=t\n")?.url == "https://git.example/" + told)
  }
}
