import ArgumentParser
import DevAuthorizationServer
import Glibc

/// What the command line says about the server.
struct ServerSettings: ParsableArguments {
  @Option(help: "Port on 127.0.0.1; 0 takes a free one.")
  var port = 8080

  @Option(help: "Path of the issuer identifier, as /tenant/1.")
  var issuerPath = ""

  @Option(help: "Seconds that access tokens live.")
  var accessTokenLife: Double = 60

  @Option(help: "Seconds that refresh tokens live.")
  var refreshTokenLife: Double = 86_400

  @Option(help: "Seconds that authorization codes live.")
  var codeLife: Double = 60

  @Option(help: "Seconds that device codes live.")
  var deviceCodeLife: Double = 600

  @Option(help: "Least seconds between two polls of a device.")
  var deviceInterval: Double = 5

  @Option(help: "Refresh tokens: strict (reuse revokes the login), grace=SECONDS or none.")
  var rotation = "strict"

  @Flag(help: "A refresh kills the access tokens given before.")
  var refreshRevokesAccessTokens = false

  @Flag(help: "Token answers do not say how long the token lives.")
  var omitExpiresIn = false

  @Flag(help: "Allow every request as the first user, without a page.")
  var autoConsent = false

  @Flag(help: "Authorization responses and metadata do without iss.")
  var noIss = false

  @Option(help: "Discovery documents served: both, openid, oauth or none.")
  var discovery = "both"

  @Option(help: "Random characters of an access token, 8 to 65536.")
  var tokenLength = 43

  @Option(help: "Text before every access token.")
  var tokenPrefix = ""

  @Option(help: "Name that may log in, instead of alice. May repeat.")
  var user: [String] = []

  @Option(help: "Further scope that may be asked for. May repeat.")
  var scope: [String] = []

  @Option(help: "Further redirect URI of dev and dev-web. May repeat.")
  var redirectURI: [String] = []

  @Option(help: "Milliseconds that an endpoint's answers take, as token=500. May repeat.")
  var delay: [String] = []

  @Option(help: "Schemes that git requests may use, as Basic,Bearer.")
  var gitSchemes = "Basic,Bearer"

  @Option(help: "Folder whose NAME.git repositories are served at /git/NAME.git.")
  var git: String?

  func validate() throws {
    _ = try options()
    guard (0...65_535).contains(port) else { throw ValidationError("--port must be 0 to 65535") }
  }

  func options() throws -> DevServerOptions {
    var options = DevServerOptions()
    guard issuerPath.isEmpty || ServerSettings.isPath(issuerPath) else {
      throw ValidationError("--issuer-path must begin with / and not end with it; letters, digits and - . _ ~ / only")
    }
    for (name, seconds) in [
      ("access-token-life", accessTokenLife), ("refresh-token-life", refreshTokenLife), ("code-life", codeLife),
      ("device-code-life", deviceCodeLife), ("device-interval", deviceInterval),
    ] where !(seconds >= 0 && seconds <= DevServerOptions.longestLifeSeconds) {
      throw ValidationError("--\(name) must be 0 to \(Int(DevServerOptions.longestLifeSeconds)) seconds")
    }
    options.accessTokenLifeSeconds = accessTokenLife
    options.refreshTokenLifeSeconds = refreshTokenLife
    options.codeLifeSeconds = codeLife
    options.deviceCodeLifeSeconds = deviceCodeLife
    options.deviceIntervalSeconds = deviceInterval
    guard let rotation = DevRotation(rotation) else {
      throw ValidationError("--rotation must be strict, grace=SECONDS or none")
    }
    options.rotation = rotation
    options.refreshRevokesAccessTokens = refreshRevokesAccessTokens
    options.omitExpiresIn = omitExpiresIn
    options.autoConsent = autoConsent
    options.sendsIssuer = !noIss
    guard ["both", "openid", "oauth", "none"].contains(discovery) else {
      throw ValidationError("--discovery must be both, openid, oauth or none")
    }
    options.servesOpenIDMetadata = ["both", "openid"].contains(discovery)
    options.servesOAuthMetadata = ["both", "oauth"].contains(discovery)
    guard (8...65_536).contains(tokenLength) else { throw ValidationError("--token-length must be 8 to 65536") }
    options.tokenLength = tokenLength
    options.tokenPrefix = tokenPrefix
    if !user.isEmpty { options.users = user }
    options.scopes += scope
    for index in options.clients.indices where ["dev", "dev-web"].contains(options.clients[index].id) {
      options.clients[index].redirectURIs += redirectURI
    }
    options.gitSchemes = gitSchemes.split(separator: ",").map(String.init)
    guard !options.gitSchemes.isEmpty, options.gitSchemes.allSatisfy(["Basic", "Bearer"].contains) else {
      throw ValidationError("--git-schemes must be Basic, Bearer or both, with a comma between")
    }
    for item in delay {
      let parts = item.split(separator: "=", omittingEmptySubsequences: false)
      guard parts.count == 2, let endpoint = DevEndpoint(rawValue: String(parts[0])), let delay = Int(parts[1]),
        (0...600_000).contains(delay)
      else {
        let names = DevEndpoint.allCases.map(\.rawValue).joined(separator: ", ")
        throw ValidationError("--delay must be ENDPOINT=MILLISECONDS; endpoints: \(names)")
      }
      options.delayMilliseconds[endpoint] = delay
    }
    return options
  }

  /// The absolute path of `--git`, or nil. Throws when it is no folder.
  func gitRoot() throws -> String? {
    guard let git else { return nil }
    guard let resolved = realpath(git, nil) else { throw ValidationError("--git: there is no folder \(git)") }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  private static func isPath(_ text: String) -> Bool {
    text.hasPrefix("/") && !text.hasSuffix("/") && !text.contains("//")
      && text.utf8.allSatisfy { byte in
        let scalar = Unicode.Scalar(byte)
        return scalar.isASCII
          && (Character(scalar).isLetter || Character(scalar).isNumber || "-._~/".utf8.contains(byte))
      }
  }
}
