import ArgumentParser
import Testing

@testable import oauthctl

@Suite("An account with a grant that is defined elsewhere")
struct ExtensionGrantTests {
  private func options(_ flags: [String]) throws -> LoginOptions {
    try LoginOptions.parse(["--client-id", "mine"] + flags)
  }

  private func account(_ options: LoginOptions) throws(CommandError) -> NewAccount? {
    try options.account(issuer: "https://id.example", workingFolder: "/")
  }

  @Test(
    "Its URI alone names the grant, and what it sends stands in its file", arguments: [[], ["--grant", "extension"]])
  func made(grant: [String]) throws {
    let options = try options(grant + ["--grant-type", "urn:example:machine", "--token-param", "machine=build-7"])
    #expect(
      try account(options)?.tomlText.hasSuffix(
        """
        grant = "extension"
        grant_type = "urn:example:machine"

        [token_parameters]
        machine = "build-7"

        """) == true)
    #expect(options.definingFlags.suffix(2) == ["--grant-type", "--token-param"] && !options.isSilentAboutClient)
  }

  @Test("Without its URI, and with another grant's name, nothing is made")
  func refused() throws {
    for (flags, words) in [
      (["--grant", "extension"], "--grant-type is missing"),
      (["--grant", "password", "--username", "me", "--grant-type", "urn:x:y"], "this one is password"),
      (["--device", "--grant-type", "urn:x:y"], "this one is device_code"),
      (["--grant-type", "urn:x:y", "--token-param", "a=1", "--token-param", "a=2"], "--token-param a is given twice"),
    ] {
      let options = try options(flags)
      let error = #expect(throws: CommandError.self) { try account(options) }
      #expect(error?.sentence?.contains(words) == true && error?.status == 64)
    }
  }
}
