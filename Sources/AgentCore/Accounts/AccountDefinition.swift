package import AgentWire
package import OAuthProtocol
package import OAuthTerms

/// When the agent refreshes without being asked.
package enum KeepPolicy: String, Sendable, CaseIterable, Codable {
  /// Tokens asked for in the last 24 h or two lives.
  case inUse = "in-use"
  case always
  case onDemand = "on-demand"
}

/// Whether a refresh whose answer was lost may be sent once more with the same refresh token.
package enum AmbiguousRetry: String, Sendable, CaseIterable, Codable { case once, never }

/// One `accounts.d/NAME.toml`, read and checked key by key, before any rule across keys. No secrets are in it.
package struct AccountDefinition: Sendable, Equatable {
  /// The scope that asks for a refresh token (OpenID Connect Core §11).
  static let offlineAccess = "offline_access"

  /// Who gives a login of it; `device`: a person has asked for a code to type elsewhere.
  func giver(device: Bool) -> GrantKind.Giver { device ? .device : grant.terms.giver }

  /// Throws ``ProtocolError/redirectURI(shown:reason:)``.
  package func redirect() throws(ProtocolError) -> RedirectURI {
    try RedirectURI(redirectURI, hasCertificate: redirectIdentity != nil)
  }

  /// Whether its client proves itself by a certificate (RFC 8705).
  var showsCertificate: Bool {
    clientAuthentication.flatMap(ClientAuthenticationMethod.init)?.proof == .certificate
  }

  var wantsOfflineAccess: Bool { scope.contains("openid") && scope.contains(Self.offlineAccess) }

  /// `[a-z0-9][a-z0-9._-]{0,62}`; the file's name without `.toml`.
  package var name: String
  /// The file it was read from, for messages.
  package var file: String
  /// SHA-256 in hex of the text it was read from, and of its private authority where it has one: what somebody was shown is
  /// this, or it is not. Nil: it was read from no text.
  package var textDigest: String?
  package var issuer: String
  package var clientID: String
  package var grant: GrantKind
  /// An extension's `grant_type` (RFC 6749 §4.5).
  package var grantType: String?
  /// A ``ClientAuthenticationMethod``; nil: chosen from the metadata and whether a secret is kept.
  package var clientAuthentication: String?
  /// Nil: the issuer.
  package var assertionAudience: AssertionAudience?
  /// Whether its tokens are bound to a key of ours (RFC 9449); others are refused then.
  package var usesDPoP = false
  package var scope: [String]
  /// Between the scopes of a request.
  package var scopeSeparator = ScopeSeparator.blank
  /// Scopes that callers may ask for beside `scope`.
  package var allowedScope: [String]
  package var resource: [String]
  package var audience: [String]
  package var redirectURI: String
  /// Tried in turn where `redirectURI` names no port; empty: any free one.
  package var redirectPorts: [Int]
  /// For a `redirectURI` with https on loopback; nil: nobody listens there.
  package var redirectIdentity: RedirectIdentityFiles?
  /// As written; empty: the issuer's host.
  package var hosts: [String]
  package var authorizationEndpoint: String?
  package var tokenEndpoint: String?
  package var deviceAuthorizationEndpoint: String?
  package var revocationEndpoint: String?
  /// Where authorization requests go before the browser does (RFC 9126), whether the server wants that or not.
  package var pushedAuthorizationRequestEndpoint: String?
  /// Resource owner's name for the password grant, and `login_hint` for the browser.
  package var username: String?
  package var authorizeParameters: [String: String]
  package var tokenParameters: [String: String]
  /// Other accounts whose tokens its grant is made of; nil: none.
  package var lent: LentTokens?
  package var certificateAuthorityFile: String?
  /// SHA-256 of that file as hex, computed when the definition was read.
  package var certificateAuthorityDigest: String?
  package var proxy: String?
  package var keep: KeepPolicy
  package var gitUsername: String
  /// Beginnings of the paths at its hosts that it is for, where several accounts share a host; without slashes at the ends.
  package var paths: [String]
  /// The one that is taken where several fit.
  package var isDefault: Bool
  package var refreshRevokesAccessToken: Bool
  /// Whether a refresh names what was granted, which most servers do not need (RFC 6749 §6).
  package var refreshNamesScope = false
  package var ambiguousRetry: AmbiguousRetry
  /// Seconds, 1 to 86,400, in which the server takes a refresh token once more after it gave a new one; nil: not known.
  package var reuseGraceSeconds: Double?

  package init(
    name: String, file: String = "", issuer: String, clientID: String, grant: GrantKind = .standard,
    grantType: String? = nil,
    clientAuthentication: String? = nil, assertionAudience: AssertionAudience? = nil, scope: [String] = [],
    allowedScope: [String] = [], resource: [String] = [],
    audience: [String] = [], redirectURI: String = "http://127.0.0.1/callback", redirectPorts: [Int] = [],
    hosts: [String] = [],
    authorizationEndpoint: String? = nil, tokenEndpoint: String? = nil, deviceAuthorizationEndpoint: String? = nil,
    revocationEndpoint: String? = nil, pushedAuthorizationRequestEndpoint: String? = nil, username: String? = nil,
    authorizeParameters: [String: String] = [:],
    tokenParameters: [String: String] = [:], lent: LentTokens? = nil, certificateAuthorityFile: String? = nil,
    certificateAuthorityDigest: String? = nil, proxy: String? = nil, keep: KeepPolicy = .inUse,
    gitUsername: String = "oauth2", paths: [String] = [], isDefault: Bool = false,
    refreshRevokesAccessToken: Bool = false,
    ambiguousRetry: AmbiguousRetry = .once, reuseGraceSeconds: Double? = nil
  ) {
    self.name = name
    self.file = file
    self.issuer = issuer
    self.clientID = clientID
    self.grant = grant
    self.grantType = grantType
    self.clientAuthentication = clientAuthentication
    self.assertionAudience = assertionAudience
    self.scope = scope
    self.allowedScope = allowedScope
    self.resource = resource
    self.audience = audience
    self.redirectURI = redirectURI
    self.redirectPorts = redirectPorts
    self.hosts = hosts
    self.authorizationEndpoint = authorizationEndpoint
    self.tokenEndpoint = tokenEndpoint
    self.deviceAuthorizationEndpoint = deviceAuthorizationEndpoint
    self.revocationEndpoint = revocationEndpoint
    self.pushedAuthorizationRequestEndpoint = pushedAuthorizationRequestEndpoint
    self.username = username
    self.authorizeParameters = authorizeParameters
    self.tokenParameters = tokenParameters
    self.lent = lent
    self.certificateAuthorityFile = certificateAuthorityFile
    self.certificateAuthorityDigest = certificateAuthorityDigest
    self.proxy = proxy
    self.keep = keep
    self.gitUsername = gitUsername
    self.paths = paths
    self.isDefault = isDefault
    self.refreshRevokesAccessToken = refreshRevokesAccessToken
    self.ambiguousRetry = ambiguousRetry
    self.reuseGraceSeconds = reuseGraceSeconds
  }
}

/// What reading the configuration folder gave. A file with problems appears in `problems` and not in `definitions`.
package struct Configuration: Sendable {
  package var definitions: [AccountDefinition]
  package var problems: [ConfigurationProblem]
  /// Nil: no file was read.
  package var folders: AccountFolders?

  package init(
    definitions: [AccountDefinition], problems: [ConfigurationProblem], folders: AccountFolders? = nil
  ) {
    self.definitions = definitions
    self.problems = problems
    self.folders = folders
  }
}

/// Where account files are looked for, and where else some are.
package struct AccountFolders: Sendable, Equatable {
  package var read: String
  /// The folder that is read when no variable names another, where it is another.
  package var usual: String?
  /// The names of the accounts that have a file there.
  package var inUsual: Set<String>
  /// `read`, or the folder it is in, where that is not there; nil: it is.
  package var gone: String?
  /// Whether a link stands there that leads nowhere.
  package var isGoneLink = false

  package init(read: String, usual: String? = nil, inUsual: Set<String> = []) {
    self.read = read
    self.usual = usual
    self.inUsual = inUsual
  }
}

/// Where configuration comes from. The live one reads files, elsewhere than on its caller's thread.
package protocol ConfigurationSource: Sendable {
  func load() async -> Configuration
  /// Whether files may have changed since the last reading that somebody was told of.
  var hasUnreadChange: Bool { get }
  /// Reads one definition from text, or from its file when `text` is nil, as `load` would.
  func definition(name: String, text: String?) async -> Result<AccountDefinition, ConfigurationProblems>
  /// The presets for known providers.
  func providers() async -> ProviderListAnswer
  /// One of them, and the account that it makes.
  func provider(_ request: ProviderShow) async throws(AgentFailure) -> ProviderShowAnswer
  /// The client's id at servers that take a client metadata document; nil: none is named.
  var clientMetadataURL: String? { get }
  /// What a private authority holds now, when that is what it must hold.
  func content(_ authority: NamedAuthority) async -> Result<[UInt8], HTTPFailure>
}

package struct ConfigurationProblems: Error, Sendable {
  package var problems: [ConfigurationProblem]

  package init(_ problems: [ConfigurationProblem]) { self.problems = problems }
}
