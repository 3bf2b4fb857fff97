import AgentWire
import Glibc
import HelperFormats

/// Answers one call of git: the format is HelperFormats', the tokens are the agent's.
struct GitCredentialHelper {
  let bench: Workbench

  /// Reads git's input for the operations that have one, and answers. An operation of a newer git is ignored without a
  /// word, as git wants it.
  ///
  /// - Throws: `CommandError.silent` with what is left to say to git already said.
  func run(_ operation: GitOperation?) throws(CommandError) {
    switch operation {
    case .get:
      guard let lookup = GitLookup(try readRequest()) else { return }
      let reply = reply(to: lookup)
      if let note = reply.note { bench.terminal.warn(note) }
      bench.terminal.write(reply.output)
    case .erase:
      // Only the access token is marked, and only if it is the one git tried.
      guard let rejected = GitOperation.rejected(try readRequest()) else { return }
      _ = try? bench.agent.ask(TokenReject(url: rejected.url, rejected: RejectedToken(token: rejected.token)))
    case .store, nil: break
    case .capability: bench.terminal.write(GitOperation.capabilities)
    }
  }

  /// What `get` answers.
  func reply(to lookup: GitLookup) -> GitLookup.Reply {
    do throws(CommandError) {
      var answer = try ask(lookup.question)
      if let second = lookup.secondQuestion(after: answer) { answer = try ask(second) }
      do {
        return try lookup.answer(answer)
      } catch {
        return lookup.answer(.other(error.message))
      }
    } catch {
      return lookup.answer(Self.failure(error))
    }
  }

  private func ask(_ question: GitLookup.Question) throws(CommandError) -> GitLookup.Token {
    var request = TokenGet(url: question.url)
    if let fingerprint = question.rejected { request.rejected = RejectedToken(fingerprint: fingerprint) }
    let answer = try bench.agent.token(request)
    return GitLookup.Token(
      accessToken: answer.accessToken, tokenType: answer.tokenType, expiresAt: answer.expiresAt,
      fingerprint: answer.fingerprint, username: answer.gitUsername)
  }

  /// What a failure means to git.
  static func failure(_ error: CommandError) -> GitLookup.Failure {
    let line = (error.sentence ?? "") + (error.nextStep.map { "; \(Terminal.stepLine($0))" } ?? "")
    guard case .agent(let failure, _) = error else { return .other(line) }
    switch failure.kind {
    case .accountUnknown, .badRequest, .notPermitted: return .notOurs
    case .accountAmbiguous, .clientRejected: return .needsPerson(line)
    case let kind where kind.needsInteraction: return .needsPerson(line)
    default: return .other(line)
    }
  }

  private func readRequest() throws(CommandError) -> GitCredentialRequest {
    guard let input = FileBytes.readAll(from: STDIN_FILENO, limit: GitCredentialRequest.limit) else {
      throw .local("git's request is longer than \(GitCredentialRequest.limit) bytes", run: nil, status: 1)
    }
    do {
      return try GitCredentialRequest(input)
    } catch {
      throw .local("git's request cannot be read: \(error.message)", run: nil, status: 1)
    }
  }
}
