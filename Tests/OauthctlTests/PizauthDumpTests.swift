import AgentWire
import FoundationEssentials
import Testing

@testable import oauthctl

/// Dumps as pizauth's source writes them (its format 1), sealed by Python's cryptography.
@Suite("A login that pizauth has made")
struct PizauthDumpTests {
  /// Accounts "work" and "home" with a login, "idle" without one.
  private static let three =
    "BwcHBwcHBwcHBwcHlNCdmZMxxKKYu1wf8Wcj6GsGd04ycwILS73ga/W94DqUmovZ3Ezb0hmp1ojC9U09+JnUhaxI2dmzXPR12e+9"
    + "PwO/iOGidlt9pyW9MpKgmIAsDeTv+v8RInSLkvjV4Jg+z8PAD2XiurNUCKCXRSQSLM0lnTmumnR1Lhj7wDrfPtQx7wohLNzTP47u"
    + "Phf0Mk8AD0/mtuos2N+ePlvPGZ0ZGOe3/W0BPPNTc/bnr3GKKg3fxujaFd/n1DOqMde4898mh+VH+t5NeNgavSooOC/PPbDAPWK9"
    + "0+X+bvJ55kDOHlatpr3j7T0CQXEvrURR2cODpWYQvpHSiTrooR9djN0ErSTVejekLdlu1R3Gx4pKnKoXC0h0p80h7brCkq4ublg+"
    + "La0u8iF1UD9aiw6o2muuP8fvgXBnAZPaVNDKiTVRJUhZpcc5zVZrZzav6y7ZJeSvowyo/E7aktR2A9ZqAsROz0A6IYuBJDcMETQh"
    + "QcWQ0tn0fNnJiQ0Aex0FIcwt1A9H/Mayy4hRe5xjtBffRZ0N0RcxisBRsQ8rFs/JI8DmCny/UOD+yxAtdtSfkAu0C0BIE8BUHeI7"
    + "VNt1C3fJBLdC4xLoAYogE7u5WDPCnJmvNE65x4Cs3QQ61WE6qz1Pysn0/QvXk2pGjRiW90G9KCouHhg1cI4TanSTjuVT3dCZ1NZI"
    + "vjGtGN/lScCmwrq6IBhuiyWOHEUPZteVG8uz9ILkIwm520+WDyGY3V+xBBfwcXwLTHDFxnXVSP2VUycYAwKeDDLBqIEteXx4VqUz"
    + "TLvAP4vxtOylJ0sS+kXkMHcV6rJTrwGNm0KeRTmI15BAxf4Y9bhNTK67VQStmXf4iKpNBTwYjhLVREnlMfQY72li261o1dWw6r5F"
    + "LCF5nHrAXnxPWGE/7sVsotl0qevnR2yDppk0T14ZNvI9kvOWKcmYgYXW49yax5wwYusFCAS359CJrBc="
  private static let none =
    "BwcHBwcHBwcHBwcHlNCdmZMxxKKau1wf8Wcj6GsGd04ycwILVbb+ZfW94DqUmovZ3Ezb0hmp1ojC9U09+JnUhaxI2dmzXPR02e+9"
    + "PwO/iO6idlt9pyW9KpWug4pzdI2Bju8RInTj5oylu9t4wMnjB22ksLhBStL7ICcSLM0lmTmu+wQFLxWWoVOzMNQxjGZISbLIdJvn"
    + "NAv0GT9jbCqVxfIssKvqTmHgXoUCC/Xhui0bLPI0C5eK3x3vBX2wrY20Fd/nuW/47hCiszm3PKCKB6RQ2k8="
  private static let second = "BwcHBwcHBwcHBwcHl9CdmZMxxKKbu1wf8Wcj6BIpG8S4H6Amj9/LuO785UQ="

  private func bytes(_ text: String) throws -> [UInt8] { Array(try #require(Data(base64Encoded: text))) }

  private func read(_ text: String, for name: String) throws -> ImportedCredential {
    try ImportedCredential(reading: try bytes(text), for: name)
  }

  @Test("The account of the same name is taken, with its client")
  func named() throws {
    let work = try read(Self.three, for: "work")
    #expect(work.refreshToken == "pizauth-refresh" && work.accessToken == "pizauth-access")
    #expect(work.expiresAt == 1_800_003_600 && work.scope == ["mail", "offline_access"])
    #expect(work.clientID == "app" && work.clientSecret == "client-secret")
    #expect(work.issuer == nil && work.tokenEndpoint == "https://id.example/token")
    let home = try read(Self.three, for: "home")
    #expect(home.refreshToken == nil && home.accessToken == "home-access" && home.clientSecret == nil)
    #expect(home.issuer == "https://accounts.google.com")
    #expect(home.tokenEndpoint == "https://oauth2.googleapis.com/token")
  }

  @Test("Where none has that name, the names are told")
  func others() throws {
    let error = #expect(throws: CommandError.self) { try read(Self.three, for: "other") }
    #expect(error?.status == 64)
    #expect(error?.sentence == "pizauth has logins, but none is called other: home, work")
    let none = #expect(throws: CommandError.self) { try read(Self.none, for: "idle") }
    #expect(none?.sentence == "pizauth had no login when it wrote this")
  }

  @Test("The only account is taken by any name; one that has no login now is never another's")
  func loginOfAnother() throws {
    var home = PizauthDump.Account(name: "home", clientID: "app", tokenEndpoint: "https://id.example/token")
    home.refreshToken = "home-refresh"
    let work = PizauthDump.Account(name: "work", clientID: "app", tokenEndpoint: "https://id.example/token")
    #expect(try ImportedCredential(pizauth: [home], for: "work").refreshToken == "home-refresh")
    let error = #expect(throws: CommandError.self) { try ImportedCredential(pizauth: [home, work], for: "work") }
    #expect(error?.status == 64 && error?.sentence == "pizauth has no login for work")
    #expect(error?.nextStep?.text == "import another under its own name: home")
    let idle = #expect(throws: CommandError.self) { try read(Self.three, for: "idle") }
    #expect(idle?.sentence == "pizauth has no login for idle")
  }

  @Test("A format that is not known is told, and what is cut off or damaged is no dump")
  func damaged() throws {
    let newer = #expect(throws: CommandError.self) { try read(Self.second, for: "work") }
    #expect(newer?.sentence?.contains("in its format 2; format 1 alone is known here") == true)
    #expect(newer?.nextStep?.text.contains("oauthctl login work") == true)
    let whole = try bytes(Self.three)
    for count in stride(from: 0, to: whole.count, by: 13) {
      #expect(throws: PizauthDump.Problem.notOne) { try PizauthDump(Array(whole.prefix(count))) }
    }
    #expect(throws: PizauthDump.Problem.notOne) { try PizauthDump(whole + [0]) }
    for place in stride(from: 0, to: whole.count, by: 13) {
      var spoiled = whole
      spoiled[place] ^= 0x80
      #expect(throws: PizauthDump.Problem.notOne) { try PizauthDump(spoiled) }
    }
  }
}
