import ArgumentParser
import Testing

@testable import oauthctl

@Suite("Options without a value, as an unset variable of a script leaves them")
struct OptionValuesTests {
  @Test(
    "Each that narrows a token is refused, since without it the whole one is meant",
    arguments: [
      ["get-token", "work", "--scope", ""], ["get-token", "work", "--scope", "read", "--scope", " \t"],
      ["get-token", "work", "--resource", ""], ["get-token", "work", "--audience", ""],
    ])
  func token(words: [String]) throws {
    let command = try #require(try Oauthctl.parseAsRoot(words) as? GetTokenCommand)
    let error = #expect(throws: CommandError.self) { try command.request() }
    #expect(error?.status == 64 && error?.sentence == "\(words[words.count - 2]) has an empty value")
  }

  @Test(
    "A login by one is not begun",
    arguments: ["--scope", "--add-scope", "--resource", "--audience"])
  func login(flag: String) {
    #expect(throws: (any Error).self) { try LoginOptions.parse([flag, ""]) }
    #expect(throws: Never.self) { try LoginOptions.parse([flag, "read"]) }
  }
}
