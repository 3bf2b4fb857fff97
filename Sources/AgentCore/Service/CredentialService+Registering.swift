package import AgentWire
import HTTPTerms
import Logging
import OAuthProtocol
import OAuthTerms
import Sealing

/// A client at a server that registers any (RFC 7591), and what deletes it there (RFC 7592).
extension CredentialService {
  /// Ports of the redirect that is registered where none is named, since many servers compare redirects to the letter:
  /// outside of those the kernel gives away (ip_local_port_range).
  private static let redirectPorts = 20_000...32_000

  package func register(_ request: ClientRegister) async throws(AgentFailure) -> ClientRegisterAnswer {
    try await open()
    let definition = try await readDefinition(request.account, request.definition)
    let redirect: RedirectURI
    do { redirect = try definition.redirect().registered(at: definition.issuer) } catch {
      throw AgentFailure(error, of: definition.name)
    }
    var transport = ObservedTransport(service: self, account: nil)
    let server = try await ServerResolver(transport: transport)
      .discover(definition, now: time.now()).0
    guard let endpoint = server.registrationEndpoint else {
      throw AgentFailure(
        .configInvalid, "\(definition.name): \(definition.issuer) registers no clients by itself",
        hint: "register one there, then name it: --client-id ID")
    }
    transport.publicOnly = server.publicOnly(beside: NamedHosts([server.issuer?.url].compactMap(\.self)))
    // On this machine other ports are other programs, of other users, too.
    guard !endpoint.origin.isLoopback || endpoint.origin == server.issuer?.url.origin else {
      throw AgentFailure(
        .configInvalid, "\(definition.name): \(definition.issuer) leads to \(endpoint.origin) to register clients",
        hint: "register a client yourself, then name it: --client-id ID")
    }
    let registration = ClientRegistration(
      endpoint: endpoint, redirectURI: redirect.parameter(port: redirectPort(of: definition.name)),
      isForDevices: definition.grant == .deviceCode, scope: definition.scope, usesDPoP: definition.usesDPoP)
    // A lock waits until what the server gives is kept: it is given once.
    beginWork()
    let answer = await register(registration, definition, server, transport)
    endWork()
    return try answer.get()
  }

  private func register(
    _ registration: ClientRegistration, _ definition: AccountDefinition, _ server: ServerMetadata,
    _ transport: ObservedTransport
  ) async -> Result<ClientRegisterAnswer, AgentFailure> {
    let name = definition.name
    let answer: HTTPAnswer
    switch await transport.perform(registration.httpRequest(), route: Self.searchRoute(definition)) {
    case .notSent(let failure), .sentNoAnswer(let failure):
      return .failure(.login(failure, "\(name): no client was registered: \(failure.message)", of: definition))
    case .answered(let found): answer = found
    }
    let client: RegisteredClient
    do throws(RegistrationRefusal) { client = try RegisteredClient(judging: answer, of: registration) } catch {
      return .failure(
        AgentFailure(
          error.isTransient ? .unavailable : .configInvalid, "\(name): \(error)",
          hint: error.isTransient ? nil : "register a client there yourself, then name it: --client-id ID"))
    }
    begin(name).registration = ClientRegistrationRecord(
      binding: DefinitionBinding(
        definition, client, at: server, registration.redirectURI,
        isPublicOnly: transport.publicOnly.contains(registration.endpoint.text)), since: time.now(),
      management: client.management)
    await sealRegistration(name)
    return .success(
      ClientRegisterAnswer(
        clientID: client.id, clientSecret: client.secret?.withBytes { String(decoding: $0, as: UTF8.self) },
        clientAuthentication: client.authentication.flatMap(ClientAuthenticationMethod.init(rawValue:))?.rawValue,
        redirectURI: registration.redirectURI,
        notice: client.managementProblem.map {
          "The client cannot be deleted at its server from here: \($0). What the server gave for that is not kept"
        }))
  }

  /// Seals a client that was registered for `name`. Where there is no vault yet, or none that takes it, it stays in memory
  /// until the login that it is for begins: without it the client cannot be deleted at its server, and nothing else is lost.
  func sealRegistration(_ name: String) async {
    guard let account = accounts[name], let registration = account.registration else { return }
    account.registration = nil
    do throws(AgentFailure) { try await change(name, .register(registration)) } catch {
      accounts[name]?.registration = registration
      logger.notice(
        "a registered client could not be kept", metadata: ["account": "\(name)", "reason": "\(error.message)"])
    }
  }

  /// Another port than that of before, which somebody else may have.
  private func redirectPort(of name: String) -> Int {
    let before = accounts[name]?.machine.definition.flatMap { try? RedirectURI($0.redirectURI).port }
    let port = Int.random(in: Self.redirectPorts)
    return port == before ? port + 1 : port
  }
}

extension DefinitionBinding {
  /// What requests about a registered client need to know: never a secret of another kind, so of no endpoint that gets one.
  fileprivate init(
    _ definition: AccountDefinition, _ client: RegisteredClient, at server: ServerMetadata, _ redirectURI: String,
    isPublicOnly: Bool
  ) {
    self.init(
      issuer: definition.issuer, clientID: client.id,
      clientAuthentication: ClientAuthenticationMethod.none.rawValue, tokenEndpoint: server.tokenEndpoint.text,
      authorizationEndpoint: nil, deviceAuthorizationEndpoint: nil, revocationEndpoint: nil, redirectURI: redirectURI,
      hosts: [], certificateAuthorityFile: definition.certificateAuthorityFile,
      certificateAuthorityDigest: definition.certificateAuthorityDigest, proxy: definition.proxy, tokenParameters: [:],
      // Its name may lead elsewhere by the time that it is deleted.
      publicOnly: isPublicOnly ? client.management.map { [$0.uri.text] } : nil)
  }
}
