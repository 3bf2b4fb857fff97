package import AgentWire
package import HTTPTerms
package import OAuthProtocol
import OAuthTerms

/// The endpoints of an account's server, from its definition and, where that leaves them out, from its metadata.
package struct ResolvedServer: Sendable {
  package var tokenEndpoint: WebURL
  package var authorizationEndpoint: WebURL?
  package var deviceAuthorizationEndpoint: WebURL?
  package var revocationEndpoint: WebURL?
  /// Nil: the browser carries the authorization request itself. Not nil where the server takes no others, or the account's
  /// file names it (RFC 9126).
  package var pushedAuthorizationRequestEndpoint: WebURL?
  /// RFC 9207: authorization responses name their issuer.
  package var namesIssuer = false
  package var authorizationObstacle: AuthorizationObstacle?
  package var authenticationMethods: [String]?
  package var scopes: [String]?
  /// By which it takes proofs of possession (RFC 9449 §5.1); nil: it does not say.
  package var proofAlgorithms: [String]?
  /// Tokens of a client that shows a certificate may be bound to it (RFC 8705 §3).
  package var bindsTokensToCertificates = false
  /// `OAuth metadata`, `OpenID discovery`, or nil: the definition names everything needed.
  package var discovery: String?
  /// Its metadata says that it registers clients (RFC 7591).
  package var registersClients = false
  /// URLs of endpoints whose requests go to public addresses alone: see ``NamedHosts``.
  package var publicOnly: Set<String> = []

  /// It says that it has the scope `offline_access` (OpenID Connect Core §11).
  package var offersOfflineAccess: Bool { scopes?.contains(AccountDefinition.offlineAccess) == true }

  /// What the account's secrets are bound to when it logs in with this server.
  func binding(_ definition: AccountDefinition, hasSecret: Bool) throws(AgentFailure) -> DefinitionBinding {
    let method: String
    if let named = definition.clientAuthentication {
      method = named
    } else if definition.grant.terms.need == .privateKey {
      // The grant itself is the proof.
      method = ClientAuthenticationMethod.none.rawValue
    } else {
      do throws(ProtocolError) {
        method = try ClientAuthenticationMethod.chosen(hasSecret: hasSecret, supported: authenticationMethods).rawValue
      } catch { throw AgentFailure(error, of: definition.name) }
    }
    return DefinitionBinding(
      issuer: definition.issuer, clientID: definition.clientID, clientAuthentication: method,
      tokenEndpoint: tokenEndpoint.text, authorizationEndpoint: authorizationEndpoint?.text,
      deviceAuthorizationEndpoint: deviceAuthorizationEndpoint?.text, revocationEndpoint: revocationEndpoint?.text,
      redirectURI: definition.redirectURI, hosts: definition.origins.sorted(),
      certificateAuthorityFile: definition.certificateAuthorityFile,
      certificateAuthorityDigest: definition.certificateAuthorityDigest, proxy: definition.proxy,
      tokenParameters: definition.tokenParameters, request: UnattendedRequest(definition),
      resending: ResendPolicy(definition),
      pushedAuthorizationRequestEndpoint: pushedAuthorizationRequestEndpoint?.text,
      assertionAudience: definition.assertionAudience,
      publicOnly: publicOnly.isEmpty ? nil : publicOnly.sorted(), dpop: definition.usesDPoP ? true : nil)
  }
}

/// Finds endpoints. Nothing is cached: a login asks the server what it is today, a refresh uses what was bound then.
package struct ServerResolver: Sendable {
  private let transport: any HTTPTransport

  package init(transport: any HTTPTransport) { self.transport = transport }

  /// `isMade`: the login is there, so a token endpoint is enough. Throws `config_invalid` for endpoints that cannot be used,
  /// `unavailable` when the server cannot be asked.
  package func resolve(
    _ definition: AccountDefinition, device: Bool, isMade: Bool = false, now: Moment
  ) async throws(AgentFailure) -> ResolvedServer {
    let written = try Self.written(definition)
    if let tokenEndpoint = written.token, isMade || !Self.needsDiscovery(definition, written, device: device) {
      return ResolvedServer(
        tokenEndpoint: tokenEndpoint, authorizationEndpoint: written.authorization,
        deviceAuthorizationEndpoint: written.device, revocationEndpoint: written.revocation,
        pushedAuthorizationRequestEndpoint: written.pushed)
    }
    var (metadata, kind) = try await discover(definition, now: now)
    if definition.showsCertificate {
      do throws(MetadataRefusal) { metadata = try metadata.forCertificates() } catch {
        throw AgentFailure(.configInvalid, "\(definition.name): the metadata of its server: \(error)")
      }
    }
    if let pushed = written.pushed { metadata.pushedAuthorizationRequestEndpoint = pushed }
    let publicOnly = metadata.publicOnly(
      beside: NamedHosts(
        [
          metadata.issuer?.url, written.authorization, written.token, written.device, written.revocation,
          written.pushed,
        ]
        .compactMap(\.self)))
    let pushes = written.pushed != nil || metadata.requirePushedAuthorizationRequests
    return ResolvedServer(
      tokenEndpoint: written.token ?? metadata.tokenEndpoint,
      authorizationEndpoint: written.authorization ?? metadata.authorizationEndpoint,
      deviceAuthorizationEndpoint: written.device ?? metadata.deviceAuthorizationEndpoint,
      revocationEndpoint: written.revocation ?? metadata.revocationEndpoint,
      pushedAuthorizationRequestEndpoint: pushes ? metadata.pushedAuthorizationRequestEndpoint : nil,
      namesIssuer: metadata.authorizationResponseIssParameterSupported,
      authorizationObstacle: metadata.authorizationObstacle,
      authenticationMethods: metadata.tokenEndpointAuthMethodsSupported,
      scopes: metadata.scopesSupported,
      proofAlgorithms: metadata.proofAlgorithmsSupported,
      bindsTokensToCertificates: metadata.certificateBoundAccessTokens,
      discovery: kind.name, registersClients: metadata.registrationEndpoint != nil, publicOnly: publicOnly)
  }

  /// A final slash more or less is the commonest difference, and the server's spelling is known then.
  private static func step(after problem: DiscoveryFailure.Problem, for issuer: Issuer) -> NextStep {
    if let spelled = problem.spelling(of: issuer) { return .advice("write the issuer as \(spelled.text)") }
    return "check the issuer, or name --authorization-endpoint and --token-endpoint"
  }

  func discover(
    _ definition: AccountDefinition, now: Moment
  ) async throws(AgentFailure) -> (ServerMetadata, MetadataKind) {
    let issuer: Issuer
    do { issuer = try Issuer(definition.issuer) } catch {
      throw AgentFailure(error, of: definition.name)
    }
    let route = HTTPRoute(
      authority: NamedAuthority(
        file: definition.certificateAuthorityFile, digest: definition.certificateAuthorityDigest),
      proxy: definition.proxy)
    var discovery = Discovery(issuer: issuer)
    var request = discovery.first
    while true {
      switch discovery.judge(await transport.perform(request, route: route), now: Int64(now.wallSeconds)) {
      case .ask(let next): request = next
      case .found(let metadata, let kind): return (metadata, kind)
      case .failed(let failure):
        if case .unreachable(let reason) = failure.problem, reason.reason == .installation {
          throw AgentFailure.installation("\(definition.name): \(reason.message)")
        }
        if case .unreachable(let reason) = failure.problem {
          throw AgentFailure.login(reason, "\(definition.name): \(failure)", of: definition)
        }
        throw AgentFailure(
          failure.isTransient ? .unavailable : .configInvalid, "\(definition.name): \(failure)",
          hint: failure.isTransient ? nil : Self.step(after: failure.problem, for: issuer))
      }
    }
  }

  /// What time it is at the server that gives the tokens: the place of metadata is asked there, since nothing secret goes
  /// to that, and whatever it answers. An issuer elsewhere does not speak for it, nor does one below a path of the same host.
  /// Whoever asks for a token waits for this, so a server has little time. Nil: it has not answered.
  func clock(_ binding: DefinitionBinding, time: any TimeKeeper) async -> ClockAnswer? {
    guard let endpoint = try? WebURL(binding.tokenEndpoint) else { return nil }
    let place = "\(endpoint.origin)/.well-known/openid-configuration"
    var route = binding.route
    route.connectTimeoutMilliseconds = 2_000
    route.timeoutMilliseconds = Self.clockMilliseconds
    var request = HTTPRequest(.get, place)
    request.isPublicOnly = binding.publicOnly?.contains(binding.tokenEndpoint) == true
    let sent = time.now()
    guard case .answered(let answer) = await transport.perform(request, route: route) else { return nil }
    guard let date = answer.dateSeconds else { return .silent }
    return .told(ServerClock(dateSeconds: date, sent: sent, received: time.now()))
  }

  /// How long a server is waited for that does not tell the time.
  static let clockMilliseconds = 5_000

  /// What a server says that is asked for the time.
  enum ClockAnswer {
    case told(ServerClock)
    /// It answers, and does not say what time it is.
    case silent

    var clock: ServerClock? { if case .told(let clock) = self { clock } else { nil } }
  }

  private struct Written {
    var authorization: WebURL?
    var token: WebURL?
    var device: WebURL?
    var revocation: WebURL?
    var pushed: WebURL?
  }

  private static func written(_ definition: AccountDefinition) throws(AgentFailure) -> Written {
    func url(_ key: String, _ text: String?) throws(AgentFailure) -> WebURL? {
      guard let text else { return nil }
      do { return try .read(text) } catch {
        throw AgentFailure(.configInvalid, "\(definition.name): \(key): \(error)")
      }
    }
    return Written(
      authorization: try url("authorization_endpoint", definition.authorizationEndpoint),
      token: try url("token_endpoint", definition.tokenEndpoint),
      device: try url("device_authorization_endpoint", definition.deviceAuthorizationEndpoint),
      revocation: try url("revocation_endpoint", definition.revocationEndpoint),
      pushed: try url(
        "pushed_authorization_request_endpoint", definition.pushedAuthorizationRequestEndpoint))
  }

  private static func needsDiscovery(_ definition: AccountDefinition, _ written: Written, device: Bool) -> Bool {
    switch definition.giver(device: device) {
    case .browser: written.authorization == nil
    case .device: written.device == nil
    case .nobody: false
    }
  }
}

extension ServerMetadata {
  /// Its endpoints whose requests go to public addresses alone.
  func publicOnly(beside named: NamedHosts) -> Set<String> {
    let endpoints = [
      tokenEndpoint, authorizationEndpoint, deviceAuthorizationEndpoint, revocationEndpoint, registrationEndpoint,
      pushedAuthorizationRequestEndpoint,
    ].compactMap(\.self)
    let found = endpoints.filter { named.isPublicOnly($0, inDocumentFromPublicAddress: isFromPublicAddress) }
    return Set(found.map(\.text))
  }
}

extension AgentFailure {
  /// A request for a person's login to an account that brought no answer.
  static func login(_ failure: HTTPFailure, _ message: String, of definition: AccountDefinition) -> AgentFailure {
    let authority: NextStep =
      if let file = definition.certificateAuthorityFile {
        .advice(
          "check the server's address, and whether \(PrintableText.escaped(file)), the ca_file, holds the authority of this server"
        )
      } else {
        "check the server's address; if its authority is a private one, name it: --ca FILE, or ca_file in the account's file"
      }
    return switch failure.reason {
    case .authority: AgentFailure(.configInvalid, message, hint: "look at the file, then try again: it is read anew")
    // The same command would fail tomorrow as well.
    case .untrusted: AgentFailure(.configInvalid, message, hint: authority)
    case .otherName:
      AgentFailure(
        .configInvalid, message, hint: "check the server's address, or have its certificate made for that name, too")
    case .notTLS:
      AgentFailure(
        .unavailable, message,
        hint: "it does not speak TLS there: check the port; on this machine plain http is taken, where http:// says so")
    case .tls: AgentFailure(.unavailable, message, hint: authority)
    case .clientCertificate: AgentFailure(.clientRejected, message, hint: ClientHint.certificate(definition.name))
    case .privateAddress:
      AgentFailure(
        .configInvalid, message,
        hint: "if that server is meant, name it yourself: the issuer, or the endpoint in the account's file")
    case .proxy:
      AgentFailure(
        .unavailable, message,
        hint: .advice(
          "look whether the proxy runs; another one for config.toml: oauthctl setup proxy; "
            + "none: oauthctl setup proxy --remove"))
    // A lock, a stop, or a change of the account came in between, and the next answer tells which.
    case .cancelled: AgentFailure(.unavailable, message, hint: "run the command again: it tells what came in between")
    case .nameResolution, .connection, .timeout, .tooLarge, .malformed, .helper, .installation:
      AgentFailure(.unavailable, message)
    }
  }
}
