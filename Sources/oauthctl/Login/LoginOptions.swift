import AgentWire
import ArgumentParser
import OAuthTerms
import SystemFacts

/// The flags of `login`.
struct LoginOptions: ParsableArguments {
  // Help shows them in this order.

  // MARK: The server and its client

  @Option(
    help: "Begins the account with the preset of a known provider; `oauthctl provider list` has them.",
    completion: .providerName)
  var provider: String?
  @Option(
    name: .customLong("set"),
    help: ArgumentHelp(
      "Answers what the preset asks for, as host=gitlab.example.com; repeatable.", valueName: "name=value"))
  var answers: [String] = []
  @Option(name: .customLong("client-id"), help: "The id the server gave this client.")
  var clientID: String?
  @Option(
    name: .customLong("client-authentication"),
    help: ArgumentHelp(
      "How the client proves itself (default: by metadata).", discussion: "\(ClientAuthenticationMethod.choice)."),
    completion: .list(ClientAuthenticationMethod.names))
  var clientAuthentication: String?
  @Flag(
    name: .customLong("client-secret-stdin"),
    help: "Reads the client secret from standard input, and asks for it in a terminal.")
  var clientSecretFromInput = false
  @Option(
    name: .customLong("assertion-audience"),
    help: ArgumentHelp("Whom what a key signs is for (default: issuer).", discussion: "\(AssertionAudience.choice)."),
    completion: .list(AssertionAudience.names))
  var assertionAudience: String?
  @Flag(help: "Takes only tokens that are bound to a key of the agent's (DPoP, RFC 9449).")
  var dpop = false
  @Option(
    name: .customLong("ca"), help: ArgumentHelp("Certificate authority of the server.", valueName: "file"),
    completion: .file())
  var certificateAuthority: String?
  @Option(name: .customLong("authorization-endpoint"), help: "Endpoint to use instead of the discovered one.")
  var authorizationEndpoint: String?
  @Option(name: .customLong("token-endpoint"), help: "Endpoint to use instead of the discovered one.")
  var tokenEndpoint: String?
  @Option(
    name: .customLong("device-authorization-endpoint"),
    help: "Endpoint for --device, when the server's metadata does not name it."
  )
  var deviceAuthorizationEndpoint: String?
  @Flag(
    name: .customLong("allow-no-pkce-metadata"),
    help: "Logs in even if the resource's server does not say that it supports PKCE.")
  var allowNoPKCEMetadata = false

  // MARK: How tokens are got

  @Option(
    help: ArgumentHelp(
      "How tokens are got (default: \(GrantKind.standard.rawValue)).", discussion: "\(GrantKind.choice)."),
    completion: .list(GrantKind.names))
  var grant: String?
  @Option(
    name: .customLong("grant-type"),
    help: ArgumentHelp("The grant_type of the grant extension (RFC 6749 §4.5).", valueName: "uri"))
  var grantType: String?
  @Option(
    name: .customLong("token-param"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Further parameter of token requests, no secret; repeatable.", valueName: "key=value"))
  var tokenParameters: [String] = []
  @Option(
    name: .customLong("subject-account"),
    help: ArgumentHelp(
      "The account whose token the grants \(LoginOptions.borrowingGrants) are made of.", valueName: "name"),
    completion: .accountName)
  var subjectAccount: String?
  /// The grants that are made of another account's token, as help names them.
  private static let borrowingGrants = GrantKind.allCases.filter { $0.terms.need == .otherLogin }.map(\.rawValue)
    .joined(separator: " and ")

  // MARK: Who logs in

  @Option(help: "Your name at the server: for the password and jwt_bearer grants, and a hint on its login page.")
  var username: String?
  @Flag(name: .customLong("password-stdin"), help: "Reads the password from standard input.")
  var passwordFromInput = false
  @Flag(name: .customLong("keep-password"), help: "Keeps the password sealed, to log in again without you.")
  var keepPassword = false
  @Option(help: "Who has to log in: a user name, a mail address or the server's id (sub); anybody else is refused.")
  var user: String?
  @Option(name: .customLong("login-hint"), help: "For this login: the user name that the server's page is to propose.")
  var loginHint: String?
  @Option(help: "For this login: \(LoginWish.promptChoice) (OpenID Connect).") var prompt: String?
  @Option(
    name: .customLong("max-age"), parsing: .unconditional,
    help: ArgumentHelp(
      "For this login: whoever logged in at the server longer ago than this has to do so again.", valueName: "seconds"))
  var maximumAge: Int?

  // MARK: By browser, or by a code

  @Flag(help: "Logs in by a code typed on any device (RFC 8628).")
  var device = false
  @Flag(name: .customLong("no-browser"), help: "Opens no browser; shows the URL.")
  var noBrowser = false
  @Flag(name: .customLong("no-qr"), help: "Draws no QR code of the page with the code (--device).")
  var noQRCode = false
  @Option(
    help: ArgumentHelp(
      "Fixed port of the redirect http://127.0.0.1:PORT/callback; several, as 8400,8401, are tried in turn.",
      valueName: "port"), transform: PortList.init(typed:))
  var port: PortList?
  @Option(name: .customLong("redirect-path"), help: "Fixed path of the redirect.")
  var redirectPath: String?
  @Option(
    name: .customLong("redirect-uri"),
    help: ArgumentHelp("The whole redirect address, as it is registered at the server.", valueName: "url"))
  var redirectURI: String?
  @Option(
    name: .customLong("redirect-cert"),
    help: ArgumentHelp(
      "Certificate of this machine for a redirect as https://localhost:8443/callback.", valueName: "file"),
    completion: .file())
  var redirectCertificate: String?
  @Option(
    name: .customLong("redirect-key"), help: ArgumentHelp("The private key of --redirect-cert.", valueName: "file"),
    completion: .file())
  var redirectKey: String?
  @Option(
    name: .customLong("param"), parsing: .unconditionalSingleValue,
    help: ArgumentHelp("Further parameter of the authorization request; repeatable.", valueName: "key=value"))
  var parameters: [String] = []

  // MARK: What the token is for

  @Option(parsing: .unconditionalSingleValue, help: "Scope to ask for; several in one word or repeated.")
  var scope: [String] = []
  @Option(
    name: .customLong("add-scope"), parsing: .unconditionalSingleValue,
    help: "Further scope for an account that is there; written into its file; repeatable.")
  var addedScope: [String] = []
  @Option(help: "Resource the token is for (RFC 8707); repeatable.")
  var resource: [String] = []
  @Option(help: "Audience the token is for; repeatable.")
  var audience: [String] = []
  @Option(help: "Host the token may be sent to, when it is not the issuer's; repeatable.")
  var host: [String] = []
  @Option(name: .customLong("git-username"), help: "User name for git (default: oauth2).")
  var gitUsername: String?

  // MARK: This command

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Gives the login up after this time (default 300; a device code as long as it lives).", valueName: "seconds"))
  var timeout: Int?
  @Flag(help: "Overwrites an account file that differs.")
  var replace = false
  @Flag(
    name: .customLong("accept-changes"),
    help: "Accepts without asking that the file now sends tokens and secrets elsewhere.")
  var acceptChanges = false

  /// Names of the flags given that describe an account.
  var definingFlags: [String] {
    var flags: [String] = []
    func note(_ flag: String, _ isGiven: Bool) { if isGiven { flags.append(flag) } }
    note("--client-id", clientID != nil)
    note("--client-authentication", clientAuthentication != nil)
    note("--assertion-audience", assertionAudience != nil)
    note("--dpop", dpop)
    note("--grant", grant != nil)
    note("--grant-type", grantType != nil)
    note("--token-param", !tokenParameters.isEmpty)
    note("--subject-account", subjectAccount != nil)
    note("--port", port != nil)
    note("--redirect-path", redirectPath != nil)
    note("--redirect-uri", redirectURI != nil)
    note("--redirect-cert", redirectCertificate != nil)
    note("--redirect-key", redirectKey != nil)
    note("--ca", certificateAuthority != nil)
    note("--device-authorization-endpoint", deviceAuthorizationEndpoint != nil)
    note("--scope", !scope.isEmpty)
    note("--param", !parameters.isEmpty)
    note("--username", username != nil)
    note("--resource", !resource.isEmpty)
    note("--audience", !audience.isEmpty)
    note("--host", !host.isEmpty)
    note("--git-username", gitUsername != nil)
    note("--set", !answers.isEmpty)
    note("--replace", replace)
    return flags
  }
}
