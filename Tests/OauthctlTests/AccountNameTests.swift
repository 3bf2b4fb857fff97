import Testing

@testable import oauthctl

@Test(
  "Account names are file names: nothing else passes",
  arguments: [
    ("a", true), ("", false), ("../x", false), ("a.b_c-1", true), ("A", false), (".a", false), ("-a", false),
    ("a/b", false), ("é", false), (String(repeating: "a", count: 63), true), (String(repeating: "a", count: 64), false),
  ])
func accountNames(name: String, isValid: Bool) { #expect(AccountName.isValid(name) == isValid) }
