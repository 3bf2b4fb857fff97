package import AgentWire
import OAuthProtocol
import OAuthTerms

/// What an examination finds of a login to come.
extension LoginCoordinator {
  /// Days before its end from which on a redirect's certificate is told: two weeks, in which somebody has time to make another.
  private static let noticeDays = 14

  /// As the service checks an account; and, of its own file, whether browsers take what its redirect on https proves itself
  /// with, by what a login begins with.
  package func check(_ request: AccountCheck) async throws(AgentFailure) -> AccountCheckAnswer {
    var answer = try await service.check(request)
    guard request.definition == nil, request.discover ?? true, answer.problems.isEmpty,
      let definition = await service.knownDefinition(request.account),
      let concern = await certificateConcern(definition)
    else { return answer }
    answer.concerns = (answer.concerns ?? []) + [concern]
    return answer
  }

  private func certificateConcern(_ definition: AccountDefinition) async -> AccountConcern? {
    guard definition.grant.terms.giver == .browser, let files = definition.redirectIdentity,
      let redirect = try? definition.redirect(), let host = redirect.certifiedHost,
      let address = redirect.listenAddresses.first
    else { return nil }
    do {
      // The process that looks at it counts among those of logins.
      try makeRoom(definition.name)
      listenersOpening += 1
      defer { listenersOpening -= 1 }
      let identity = try await redirects.identity(files, host: host)
      // Any port: whether the redirect's own is free is told elsewhere.
      let listener = try await redirects.listen(host: address, port: 0, identity: identity) { _ in .notFound }
      await listener.close()
      guard let end = listener.certificateEnd, case let left = Double(end) - time.now().wallSeconds,
        left <= Double(Self.noticeDays) * 86_400
      else { return nil }
      let days = Int(left / 86_400)
      return AccountConcern(
        check: AccountConcern.redirect,
        message: "the certificate in \(Escaped.forTerminal(files.certificate, limit: 4_096)) ends in "
          + "\(days == 1 ? "1 day" : "\(days) days"): no login by browser then",
        hint: identity.renewal)
    } catch let refusal as RedirectListenerError where refusal.isOfFile {
      return AccountConcern(
        check: AccountConcern.redirect, message: "no login by browser: \(refusal.message)", hint: refusal.hint,
        isBlocking: true)
    } catch {
      // No helper, or no room for one: that is no fault of the account's.
      return nil
    }
  }
}
