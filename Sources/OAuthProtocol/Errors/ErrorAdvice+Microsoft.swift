/// The numbers that Microsoft Entra ID begins its explanations with (AADSTS…). Microsoft asks programs not to depend on
/// them: they choose a sentence here, and nothing else.
extension ErrorAdvice {
  static let microsoft: [Int: ErrorAdvice] = [
    16_000: .init("the server has to know which of your accounts is meant", .logIn),
    28_000: .init(
      "one token is for one resource, and scopes of two were asked for",
      .other("leave the scopes of one resource, and make another account for the other")),
    50_011: .init("the redirect address is not the one that is registered", .checkRedirect),
    50_020: .init("your account is of another tenant", .other("name your tenant: --provider entra --set tenant=ID")),
    50_034: .init("there is no such user in this tenant", .other("name your tenant: --provider entra --set tenant=ID")),
    50_055: .init("your password there has expired", .logIn),
    50_057: .init("your account there is disabled", .askAdministrator),
    50_058: .init("the server has to ask you something first", .logIn),
    50_059: .init(
      "the server cannot tell which tenant is meant", .other("name your tenant: --provider entra --set tenant=ID")),
    50_076: .init("a second factor is needed now", .logIn),
    50_078: .init("the second factor was too long ago", .logIn),
    50_079: .init("you have to set up a second factor first", .logIn),
    50_105: .init("you are not assigned to this client there", .askAdministrator),
    50_126: .init("user name or password is wrong", .logIn),
    50_158: .init("another check is needed now", .logIn),
    50_173: .init("your password was changed, which ended the login", .logIn),
    50_194: .init(
      "the client is of one tenant alone", .other("name that tenant: --provider entra --set tenant=ID")),
    53_000: .init("your organization wants a device that it manages", .askAdministrator),
    53_001: .init("your organization wants a device that it manages", .askAdministrator),
    53_003: .init("a rule of your organization does not allow it", .askAdministrator),
    54_005: .init("the code was used before", .logIn),
    65_001: .init("you, or an administrator, have to agree first", .logIn),
    65_004: .init("somebody there said no", .logIn),
    70_008: .init("it has expired, for it was not used for a long time", .logIn),
    70_011: .init("a scope is unknown there, or this client may not ask for it", .checkScope),
    70_043: .init("your organization wants you to log in anew from time to time", .logIn),
    90_002: .init("there is no such tenant", .other("name your tenant: --provider entra --set tenant=ID")),
    90_094: .init("an administrator has to agree first", .askAdministrator),
    700_016: .init("the tenant does not know this client", .checkClient),
    700_025: .init(
      "the client is a public one, and a secret was sent",
      .other("the account needs client_authentication = \"none\"")),
    700_054: .init("the server gives this client no tokens of that kind", .checkClient),
    700_082: .init("it has expired, for it was not used for a long time", .logIn),
    700_084: .init("it has expired: those of web pages last 24 hours", .logIn),
    7_000_112: .init("the client is disabled there", .askAdministrator),
    7_000_215: .init("the client secret is wrong; it is the secret's value that is wanted, not its id", .checkClient),
    7_000_218: .init(
      "the server wants a client secret, so it does not take this client for a public one",
      .other("allow public client flows at the client's page there")),
    7_000_222: .init("the client secret has expired", .checkClient),
    9_002_326: .init(
      "the redirect address is registered for web pages",
      .other("register it under mobile and desktop applications")),
    9_002_346: .init(
      "the client is for personal accounts", .other("use the preset microsoft: --provider microsoft")),
  ]
}
