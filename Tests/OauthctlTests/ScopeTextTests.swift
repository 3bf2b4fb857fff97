import Testing

@testable import oauthctl

@Suite("Scopes that are added to an account's file")
struct ScopeTextTests {
  private static let head = "issuer = \"https://id.example\"\nclient_id = \"dev\"\n"

  @Test("they go behind those that are there, and nothing else changes")
  func added() {
    for (before, after) in [
      ("scope = [\"a\"]\n", "scope = [\"a\", \"b\"]\n"),
      ("scope = []  # none yet\n", "scope = [\"b\"]  # none yet\n"),
      ("scope=['a',]\n", "scope=['a', \"b\",]\n"),
      ("scope = [\n  \"a\", # one ] more\n  \"c\"\n]\n", "scope = [\n  \"a\", # one ] more\n  \"c\", \"b\"\n]\n"),
      ("scope = \"a c\"\n", "scope = [\"a\", \"c\", \"b\"]\n"),
      ("keep = \"always\"", "keep = \"always\"\nscope = [\"b\"]\n"),
      ("\n[authorize_parameters]\nscope = \"x\"\n", "scope = [\"b\"]\n\n[authorize_parameters]\nscope = \"x\"\n"),
      ("#\u{2028}scope = [\"x\"]\nscope = [\"a\"]\n", "#\u{2028}scope = [\"x\"]\nscope = [\"a\", \"b\"]\n"),
      (
        "scope = [ # \u{85}\"x\"\r\n\"a\"]\r\nkeep = \"always\"\r\n",
        "scope = [ # \u{85}\"x\"\r\n\"a\", \"b\"]\r\nkeep = \"always\"\r\n"
      ),
      ("# scope = [\"x\"]\nscope = [\"a\"]\n", "# scope = [\"x\"]\nscope = [\"a\", \"b\"]\n"),
    ] {
      #expect(ScopeText.adding(["b"], to: Self.head + before) == Self.head + after, "\(before)")
    }
  }

  @Test("what is there already is not written twice")
  func there() {
    let text = Self.head + "scope = [\"a\", \"b\"]\n"
    #expect(ScopeText.adding(["b"], to: text) == text)
    #expect(ScopeText.adding(["b", "c"], to: text) == Self.head + "scope = [\"a\", \"b\", \"c\"]\n")
  }

  @Test("what cannot be read for certain is left to its writer")
  func unreadable() {
    for text in [
      "scope = [\"a\\u0062\"]\n", "scope = [\"a\n", "scope = a\n", "scope = [1]\n",
      "username = \"\"\"\nscope = [\"x\"]\n\"\"\"\n", "scope = [\"a\" \"b\"]\n", "scope = \n",
    ] {
      #expect(ScopeText.scopes(in: Self.head + text) == nil, "\(text)")
      #expect(ScopeText.adding(["b"], to: Self.head + text) == nil, "\(text)")
    }
  }

  @Test("a scope with signs of TOML stays one string")
  func signs() {
    let text = ScopeText.adding(["x]#'y", "z"], to: Self.head)
    #expect(text == Self.head + "scope = [\"x]#'y\", \"z\"]\n")
    #expect(text.flatMap(ScopeText.scopes(in:)) == ["x]#'y", "z"])
  }
}
