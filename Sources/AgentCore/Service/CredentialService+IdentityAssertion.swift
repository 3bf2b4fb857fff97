import AgentWire
import HTTPTerms
import OAuthProtocol
import OAuthTerms
import Sealing

/// The first leg of the Identity Assertion JWT Authorization Grant (draft-ietf-oauth-identity-assertion-authz-grant): the
/// lender's own server gives, for the lender's token, an assertion that the borrower's server takes as a grant. It is asked
/// by the lender's client, at the lender's token endpoint, so the token itself goes nowhere else.
extension CredentialService {
  /// What is borrowed.
  struct IdentityAssertion {
    let assertion: Secret
    let loan: Loan
    /// Boot time; nil: not known.
    let endBootSeconds: Double?
  }

  /// Waits for the lender's token, a place among the requests, and the lender's server. One that refuses the token gets
  /// another, once.
  func identityAssertion(
    _ lent: LentToken, for borrower: Borrower, _ wish: RequestToSend
  ) async throws(AgentFailure) -> IdentityAssertion {
    let first = try await token(lent, for: nil, of: borrower.name)
    do throws(RefusedToken) {
      return try await ask(lent, first, for: borrower, wish)
    } catch {
      // Nor is a new one got for what is not wanted any more.
      guard error.mayBeOld, mayBorrow(borrower, []) else { throw error.failure }
    }
    let second = try await token(lent, for: nil, of: borrower.name, other: first.fingerprint)
    do throws(RefusedToken) { return try await ask(lent, second, for: borrower, wish) } catch {
      throw error.failure
    }
  }

  private struct RefusedToken: Error {
    let failure: AgentFailure
    /// A new token may help.
    var mayBeOld = false
  }

  private func ask(
    _ lent: LentToken, _ token: LentSecret, for borrower: Borrower, _ wish: RequestToSend
  ) async throws(RefusedToken) -> IdentityAssertion {
    let (name, binding) = (borrower.name, borrower.binding)
    func refused(_ kind: FailureKind, _ message: String, _ hint: NextStep? = nil, _ error: OAuthError? = nil)
      -> AgentFailure
    {
      AgentFailure(
        kind, "\(name): it needs an assertion of \(lent.account): \(message)", hint: hint, oauthError: error?.code,
        oauthErrorDescription: error?.explanation)
    }
    guard let machine = accounts[lent.account]?.machine, let record = machine.record, let grant = record.grant else {
      throw RefusedToken(failure: gone(name))
    }
    if let obstacle = machine.obstacle {
      throw RefusedToken(failure: refused(obstacle.kind, obstacle.message, obstacle.hint))
    }
    let (lender, host) = (grant.binding, grant.binding.issuerHost)
    let route = ServerRoute(lender)
    var request: HTTPRequest
    do {
      let proof = ClientProof(at: now(at: route), random: random)
      let endpoint = try WebURL.read(lender.tokenEndpoint)
      var asking = TokenRequest(
        endpoint: endpoint, client: try lender.client(record.clientSecret(for: lender)?.secret, proof, to: endpoint),
        grant: .tokenExchange(subject: (token.secret, lent.kind.uri), requestedType: TokenKind.identityAssertionURI),
        scope: wish.key.scope.isEmpty ? binding.request?.scope ?? [] : wish.key.scope,
        resources: wish.key.resource.isEmpty ? binding.request?.resource ?? [] : wish.key.resource,
        audiences: [binding.issuer], extra: lender.extraTokenParameters)
      asking.scopeSeparator = machine.definition?.scopeSeparator ?? .blank
      request = try asking.httpRequest()
      request.isPublicOnly = lender.isPublicOnly(request)
    } catch { throw RefusedToken(failure: refused(.configInvalid, "\(error)")) }
    if let held = hold(at: route, for: name) { throw RefusedToken(failure: refused(.unavailable, held)) }
    let asked = time.now()
    let loan = Loan(token: lent, login: token.login, endpoint: nil)
    var transport = ObservedTransport(service: self, account: name, priority: wish.priority)
    transport.obstacle = { await self.mayBorrow(borrower, [loan]) ? nil : ObservedTransport.changed }
    let outcome = await transport.perform(request, route: lender.route)
    // It may have been the one that tries a server which did not answer.
    servers[route]?.circuit.gaveUp(name)
    switch outcome {
    case .notSent(let failure), .sentNoAnswer(let failure):
      throw RefusedToken(failure: refused(.unavailable, "\(host): \(failure.message)"))
    case .answered(let answer):
      let verdict = TokenJudgement(judging: answer, to: request, now: Int64(asked.wallSeconds)).verdict
      switch verdict {
      case .granted(let granted):
        return IdentityAssertion(
          assertion: granted.accessToken, loan: loan,
          endBootSeconds: granted.lifetime.knownSeconds.map { asked.bootSeconds + Double($0) })
      case .refused(let error):
        let message = "\(host) gives none: \(error.told)"
        switch error.meaning {
        case .clientRefused where error.code == "unauthorized_client":
          let client = Escaped.forTerminal(lender.clientID, limit: 100)
          throw RefusedToken(
            failure: refused(
              .clientRejected, "\(host) does not let that account's client exchange tokens (\(error.code))",
              .advice(
                "ask whoever is in charge of \(host) to allow the client \(client) "
                  + "the grant \(GrantKind.tokenExchange.terms.type ?? "")"), error))
        case .clientRefused:
          let hint = ClientHint.text(lent.account, method: lender.clientAuthentication)
          throw RefusedToken(failure: refused(.clientRejected, message, hint, error))
        case .grantRefused:
          let hint = NextStep.run("oauthctl login \(lent.account)")
          throw RefusedToken(failure: refused(.loginRequired, message, hint, error), mayBeOld: true)
        case .requestRefused, .transient:
          let hint = NextStep.run("oauthctl account show \(name)")
          throw RefusedToken(failure: refused(.serverRefused, message, hint, error), mayBeOld: error.mayMeanLentToken)
        }
      case .refusedWithoutReason:
        throw RefusedToken(failure: refused(.serverRefused, "\(host): \(verdict)"))
      case .unusable(_, let seconds):
        var failure = refused(.unavailable, "\(host): \(verdict)")
        failure.retryAfterMilliseconds = seconds.map { $0 * 1_000 }
        throw RefusedToken(failure: failure)
      }
    }
  }

  /// Why the server behind `route` is not asked now; nil: it is, by `name` alone where it was dead.
  private func hold(at route: ServerRoute, for name: String) -> String? {
    let server = servers.server(route)
    switch server.circuit.hold(for: name) {
    case .probing?: return "\(route.host): another account asks it whether it answers again"
    case .until(_, let asked, let reason)? where asked > time.now().bootSeconds: return reason
    case nil, .until?, .lender?: break
    }
    server.circuit.began(name)
    return nil
  }
}
