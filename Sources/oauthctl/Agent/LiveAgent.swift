import AgentClient
import AgentWire
import Glibc
import SystemFacts

/// The agent behind its socket, started when there is none. Every call has a connection of its own, so that one that
/// waits never stands in the way of another.
struct LiveAgent: AgentCalling {
  func call<P: RequestParameters>(_ parameters: P, timeoutMilliseconds: Int) throws(CommandError) -> P.Answer {
    do {
      return try askingAgain(timeoutMilliseconds: timeoutMilliseconds) { milliseconds throws(ClientError) in
        try AgentStarter().connect().call(parameters, timeoutMilliseconds: milliseconds)
      }
    } catch {
      throw CommandError(error)
    }
  }

  func tell<P: RequestParameters>(_ parameters: P, timeoutMilliseconds: Int) throws(CommandError) -> P.Answer {
    do {
      let connectMilliseconds = timeoutMilliseconds / 4
      return try AgentStarter().connect(starting: false, connectMilliseconds: connectMilliseconds)
        .call(parameters, timeoutMilliseconds: timeoutMilliseconds - connectMilliseconds)
    } catch {
      throw CommandError(error)
    }
  }

  /// As `call`; the common request and its answer never meet a JSON coder.
  func token(_ request: TokenGet) throws(CommandError) -> TokenAnswer {
    switch try TokenRetry().run(request, once) {
    case .line(let line, let found): Self.answer(line, found)
    case .whole(let answer): answer
    }
  }

  /// The current token of `account` and a line feed. No text is made of it: the first long one of a process that is freed
  /// makes the runtime look for a type, which takes as long as a tenth of all else.
  func tokenLine(of account: String) throws(CommandError) -> [UInt8] {
    switch try TokenRetry().run(TokenGet(account: account), once) {
    case .line(let line, let found): try AccessToken.line(line[found.accessToken])
    case .whole(let answer): try AccessToken.line(Array(answer.accessToken.utf8)[...])
    }
  }

  /// An answer of the spelling that ``AgentWire/TokenLine`` understands, or any other.
  private enum Reply {
    case line([UInt8], TokenLine.Answer)
    case whole(TokenAnswer)
  }

  private func once(_ request: TokenGet) throws(CommandError) -> Reply {
    let wait = (request.timeoutMilliseconds ?? WireLimits.defaultTimeoutMilliseconds) + 5_000
    do {
      return try askingAgain(timeoutMilliseconds: wait) { milliseconds throws(ClientError) in
        try Self.reply(to: request, timeoutMilliseconds: milliseconds)
      }
    } catch {
      throw explained(CommandError(error).about(request.account))
    }
  }

  /// An account that the agent does not know, or has no login of, may be one of another folder than it has; a vault that
  /// another agent holds, one of the agent that this shell would ask if its folder were not open to others. A locked one may
  /// have lost what opens it.
  func explained(_ error: CommandError) -> CommandError {
    guard case .agent(let failure, let account) = error else { return error }
    if failure.kind == .vaultLocked {
      let vault = try? tell(VaultStatusRequest(), timeoutMilliseconds: Self.explanationMilliseconds)
      return .agent(failure.explained(by: vault), account: account)
    }
    if failure.kind == .vaultInUse {
      let folder = SocketLocation.openRuntimeFolder(
        variable: LiveSystem.variable, uid: geteuid(), status: LiveSystem.status)
      return .agent(failure.explained(passingOver: folder), account: account)
    }
    guard [.accountUnknown, .loginRequired, .configInvalid, .vaultDamaged].contains(failure.kind),
      failure.accounts == nil
    else {
      return error
    }
    let status = try? tell(AgentStatus(limit: 1), timeoutMilliseconds: Self.explanationMilliseconds)
    return .agent(AgentFolders(.live, status).explained(failure, about: account), account: account)
  }

  /// Longest wait for it: there is an answer already.
  private static let explanationMilliseconds = 2_000

  private static func reply(to request: TokenGet, timeoutMilliseconds: Int) throws(ClientError) -> Reply {
    let connection = try AgentStarter().connect()
    guard request.isCanonical else {
      return .whole(try connection.call(request, timeoutMilliseconds: timeoutMilliseconds))
    }
    let id = RequestID.number(1)
    let line = try connection.tokenAnswer(
      requestLine: TokenLine.printRequest(
        .init(id: id, account: request.account, url: request.url, minValiditySeconds: request.minValiditySeconds)),
      timeoutMilliseconds: timeoutMilliseconds)
    if let found = line.withUnsafeBytes({ TokenLine.scanAnswer($0) }), id == .number(found.id) {
      return .line(line, found)
    }
    return .whole(try AgentConnection.answer(line, to: id))
  }

  /// The scopes, which `TokenLine` skips, are left empty.
  private static func answer(_ line: [UInt8], _ found: TokenLine.Answer) -> TokenAnswer {
    func text(_ range: Range<Int>) -> String { String(decoding: line[range], as: UTF8.self) }
    return TokenAnswer(
      accessToken: text(found.accessToken), tokenType: text(found.tokenType), expiresAt: found.expiresAt,
      expiresInSeconds: found.expiresInSeconds, scope: [], account: text(found.account),
      accountID: text(found.accountID), authorityDigest: found.authorityDigest.map(text),
      authorityHost: found.authorityHost.map(text),
      fingerprint: text(found.fingerprint),
      matchedHost: found.matchedHost.map(text), gitUsername: found.gitUsername.map(text))
  }

}

extension AgentFailure {
  /// `vault_in_use`, where the runtime folder of this shell is passed over: the line that the agent tells names it, and
  /// changes nothing.
  func explained(passingOver folder: String?) -> AgentFailure {
    guard kind == .vaultInUse, let folder else { return self }
    var failure = self
    failure.message += "; XDG_RUNTIME_DIR (\(folder)) may be written by others, so it is passed over"
    failure.hint = .run("chmod 700 \(ShellWord.quoted(folder))")
    return failure
  }
}

extension AgentFailure {
  /// `vault_locked`, where an unlock is not all that is needed: what is wrong with the vault, and what helps.
  func explained(by vault: VaultStatusAnswer?) -> AgentFailure {
    // Of a secret that is wrong, its own words say what helps.
    guard kind == .vaultLocked, hint == .run("oauthctl vault unlock"), let vault, let reason = vault.reason,
      let remedy = vault.remedy
    else { return self }
    var failure = self
    failure.message += "; \(reason)"
    failure.hint = remedy
    return failure
  }
}

extension TokenGet {
  /// Whether ``AgentWire/TokenLine`` can say it. Member by member: comparing whole requests would build tables at run
  /// time that take as long as a tenth of a call.
  var isCanonical: Bool {
    username == nil && scope == nil && resource == nil && audience == nil && rejected == nil && force == nil
      && interaction == nil
      && timeoutMilliseconds == nil && bestEffort == nil && neededScope == nil && furtherURLs == nil
  }
}

extension CommandError {
  init(_ error: ClientError) {
    switch error {
    case .failure(let failure): self = .agent(failure, account: nil)
    case .notReachable(_, _, let hint, let isAbsent):
      self = .notReachable(error.message, next: hint, isAbsent: isAbsent)
    case .timeout, .stopped: self = .noAnswer(error.message, next: error.hint)
    case .protocolViolation: self = .local(error.message, next: error.hint, status: error.exitStatus)
    }
  }

  /// The same, with the account it is about.
  func about(_ account: String?) -> CommandError {
    guard case .agent(let failure, nil) = self else { return self }
    return .agent(failure, account: account)
  }
}
