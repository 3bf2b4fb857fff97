import Testing

@testable import oauthctl

@Suite("git's proxy for plain http on this machine")
struct GitProxyTests {
  @Test(
    "Only plain http is looked at",
    arguments: [
      ("http://localhost:3000/team/one.git", "localhost"), ("http://127.0.0.1:1", "127.0.0.1"),
      ("http://[::1]:3000/", "::1"), ("https://localhost:3000", nil),
    ])
  func plain(url: String, host: String?) {
    #expect(GitProxy.plainHost(url) == host)
  }

  @Test(
    "A variable that names a proxy for anything counts, and an empty one does not",
    arguments: [
      ([:], nil), (["http_proxy": "p"], "http_proxy"), (["https_proxy": "p"], "https_proxy"),
      (["HTTPS_PROXY": "p"], "HTTPS_PROXY"), (["all_proxy": "p"], "all_proxy"), (["ALL_PROXY": "p"], "ALL_PROXY"),
      // curl takes no capital letters here, since a server could set it (CGI).
      (["HTTP_PROXY": "p"], nil), (["http_proxy": ""], nil),
    ] as [([String: String], String?)])
  func variable(variables: [String: String], name: String?) {
    #expect(GitProxy.variable(Environment(variables)) == name)
  }

  @Test(
    "A host of no_proxy has none, whole and by its own name",
    arguments: [
      ([:], false), (["no_proxy": "localhost"], true), (["NO_PROXY": "a.example, LOCALHOST"], true),
      (["no_proxy": "*"], true), (["no_proxy": "host"], false), (["no_proxy": "localhost other"], true),
      (["no_proxy": "other localhost"], false), (["no_proxy": "localhost\r"], false),
      (["no_proxy": "localhost\u{a0}"], false), (["no_proxy": "localhost\tx"], true),
      (["no_proxy": " other , localhost"], true), (["no_proxy": "a b,localhost"], false),
      (["no_proxy": "", "NO_PROXY": "localhost"], false),
    ] as [([String: String], Bool)])
  func exempt(variables: [String: String], isExempt: Bool) {
    #expect(GitProxy.isExempt("localhost", Environment(variables)) == isExempt)
  }

  @Test("A setting counts unless it is empty")
  func settings() {
    #expect(GitProxy.keys(in: "").isEmpty && GitProxy.keys(in: "remote.a.proxy\n\0").isEmpty)
    #expect(GitProxy.keys(in: "http.proxy\n\0remote.b.proxy\nhttp://p\0http.proxy\0") == ["remote.b.proxy"])
  }
}
