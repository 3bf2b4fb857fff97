import Testing

@testable import oauthctl

@Test(
  "Account names are file names: nothing else passes",
  arguments: [
    ("a", true), ("", false), ("../x", false), ("a.b_c-1", true), ("A", false), (".a", false), ("-a", false),
    ("a/b", false), ("é", false), (String(repeating: "a", count: 63), true), (String(repeating: "a", count: 64), false),
  ])
func accountNames(name: String, isValid: Bool) { #expect(AccountName.isValid(name) == isValid) }

@Test(
  "A name that is none leads to one that is like it",
  arguments: [
    ("Bad", "bad"), ("My Work!", "my-work"), ("_x", "x"), ("é", nil), ("", nil), ("a.b", "a.b"),
    (String(repeating: "A", count: 70), String(repeating: "a", count: 63)),
  ] as [(String, String?)])
func likelyName(name: String, like: String?) { #expect(AccountName.like(name) == like) }
