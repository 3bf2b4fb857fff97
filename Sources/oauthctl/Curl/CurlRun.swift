import AgentWire
import CLinux
import Glibc
import HTTPTerms
import HelperFormats

/// Runs curl with a token: once, and after a 401 once more with a new one.
struct CurlRun {
  let context: CommandContext
  let invocation: CurlInvocation

  /// - Returns: curl's exit status.
  func run() throws(CommandError) -> Int32 {
    try checkOrder()
    let policy = CurlPolicy(
      arguments: invocation.arguments, anyHost: own.anyHost, outputIsTerminal: context.terminal.outputIsTerminal)
    let urls: [CurlURL]
    do {
      urls = try policy.urls()
    } catch {
      throw .local(error.why, next: error.step(invocation.account ?? onlyAccount), status: 125)
    }
    if policy.showsToken { context.terminal.warn("curl shows the token in what --verbose and --trace print") }
    let obstacle = policy.obstacleToRetry(urls) ?? fileObstacle
    // Also where nothing is tried again: curl would wait for it with the token.
    let input = invocation.arguments.readsStandardInput ? try CurlInput.keep() : nil
    let (answer, authority) = try withAuthority(try token(for: urls), urls)
    let settings = CurlSettings(
      urls: urls, staysOnThisMachine: CurlPolicy.staysOnThisMachine(urls, invocation.arguments),
      isInteractive: context.terminal.outputIsTerminal && policy.writesBodyToOutput,
      authority: authority,
      noticesProgress: invocation.arguments.has("progress-bar", "progress-meter", "no-progress-meter"),
      closesConnections: invocation.arguments.sendsBody)

    guard obstacle == nil, input?.isWhole ?? true else {
      let headers = headersFile()
      defer { if let headers { close(headers) } }
      let process = try CurlProcess(
        settings: settings, token: answer, arguments: invocation.arguments,
        headers: headers.map { .kept(at: $0) } ?? .users, output: nil, input: input)
      let status = process.wait()
      let dump = headers.flatMap { Self.dump($0, from: urls.map(\.origin)) }
      tell(neededScope: dump?.neededScope, answer)
      if let dump, dump.hasUnauthorized {
        let why = "because of \(obstacle ?? "standard input, which is too large to keep for a second try")"
        let isNonce = answer.tokenType.lowercased() == "dpop" && dump.wantsNonce
        tellNotRepeated(answer, because: why, nonce: isNonce ? dump.nextNonce : nil, urls)
      }
      return status
    }
    return try runTwiceAtMost(settings, answer, input)
  }

  /// `nonce`: what the server wants in the proof, which the agent is told for the next call.
  private func tellNotRepeated(
    _ answer: HelperToken, because why: String, nonce: String? = nil, _ urls: [CurlURL] = []
  ) {
    if let nonce,
      (try? token(request(account: answer.account, url: urls.first?.place), urls, nonce: nonce)) != nil
    {
      return context.terminal.warn(
        "\(answer.account): the server wants a nonce in the proof of the key; not tried again \(why)",
        next: "run the command again: the next proof has it")
    }
    context.terminal.warn(
      "\(answer.account): the server answered 401; not tried again \(why)",
      next: .run("oauthctl get-token \(answer.account) \(own.selection.words)--force   # then repeat the call"))
  }

  /// curl takes its operands in any order, so an account's name behind an option would be a URL to it.
  private func checkOrder() throws(CommandError) {
    for name in invocation.possibleNames {
      do throws(CommandError) { _ = try context.agent.ask(AccountShow(account: name)) } catch {
        // Nobody can tell what is an account, and there will be no token either.
        if case .agent(let failure, _) = error, failure.kind == .vaultLocked { throw error }
        continue
      }
      throw .local(
        "\(name) is an account, and its name comes first",
        next: .run("oauthctl curl \(own.words)\(name) …"), status: 125)
    }
  }

  /// Where there is no token: an account's name stands as the value of an option, and no account is named.
  private var forgottenValue: CommandError? {
    guard invocation.account == nil, let last = own.swallowing, AccountName.isValid(last.word),
      (try? context.agent.ask(AccountShow(account: last.word))) != nil
    else { return nil }
    return CurlInvocation.valueForgotten(last, "\(last.word) is an account")
  }

  private func runTwiceAtMost(
    _ settings: CurlSettings, _ answer: HelperToken, _ input: CurlInput?
  ) throws(CommandError) -> Int32 {
    let transfer = BufferedTransfer(
      origins: settings.urls.map(\.origin), dumpHeader: invocation.arguments.dumpHeader,
      holdsErrors: invocation.arguments.has("fail", "fail-with-body") && !invocation.arguments.has("stderr"),
      scheme: answer.tokenType.lowercased(), isIdempotent: invocation.arguments.isIdempotent)
    let ends = try transfer.open()
    let first: CurlProcess
    do throws(CommandError) {
      first = try CurlProcess(
        settings: settings, token: answer, arguments: invocation.arguments,
        headers: .kept(at: ends.headers),
        output: ends.output, errors: ends.errors, input: input)
    } catch {
      ends.closeAll()
      throw error
    }
    ends.closeAll()
    let outcome = transfer.pump()
    let status = first.wait()
    guard case .unauthorized = outcome else {
      tell(neededScope: transfer.neededScope, answer)
      if transfer.wasAnswered {
        tellNotRepeated(answer, because: "because it had been taken, and what was not is the page that it led to")
      }
      return ended(status, transfer)
    }
    // Whoever stops curl, or gave it a time that is over, wants nothing sent after that.
    if let stopped = Interrupts.left.map({ 128 + $0 }) ?? (status > 128 || status == Self.timedOut ? status : nil) {
      transfer.release()
      return stopped
    }

    let next: HelperToken
    var settings = settings
    // The account may be bound to another authority by now: who was believed before gets no new token.
    do throws(CommandError) {
      // By its URL again: the host may have been taken out of the account meanwhile.
      var request = request(account: answer.account, for: own.anyHost ? [] : settings.urls)
      if !transfer.wantsNonce { request.rejected = RejectedToken(fingerprint: answer.fingerprint) }
      (next, settings.authority) = try withAuthority(
        try token(request, settings.urls, nonce: transfer.nonce), settings.urls)
    } catch {
      transfer.release()
      context.terminal.fail(error)
      return ended(status, transfer)
    }
    guard next.accessToken != answer.accessToken || transfer.wantsNonce else {
      transfer.release()
      return ended(status, transfer)
    }
    input?.rewind()
    return try CurlProcess(
      settings: settings, token: next, arguments: invocation.arguments, headers: .users, output: nil,
      input: input
    ).wait()
  }

  /// The account that is meant where there is one; nil: there are several, or no agent runs that tells.
  private var onlyAccount: String? {
    let page = try? context.agent.tell(AccountList(limit: 2), timeoutMilliseconds: 1_000)
    return page.flatMap { $0.accounts.count == 1 ? $0.accounts[0].account : nil }
  }

  /// curl's status, and that of a write error where we could not hand on what it has written.
  private func ended(_ status: Int32, _ transfer: BufferedTransfer) -> Int32 {
    status == 0 && transfer.lostOutput ? Self.writeError : status
  }

  /// curl's own status for output that cannot be written.
  private static let writeError: Int32 = 23
  /// And for a time that is over (`--max-time`, `--speed-time`).
  private static let timedOut: Int32 = 28

  var own: CurlOwnOptions { invocation.own }

  /// Every token of a run is of one selection: the first, and the one after a 401.
  func request(account: String?, url: String? = nil) -> TokenGet {
    var request = TokenGet(account: account, url: url)
    own.selection.apply(to: &request)
    return request
  }

  /// The same for every host of `urls`: one token goes to all of them.
  func request(account: String?, for urls: [CurlURL]) -> TokenGet {
    var request = request(account: account, url: urls.first?.place)
    var origins: [Origin] = []
    for url in urls where !origins.contains(url.origin) { origins.append(url.origin) }
    if origins.count > 1 { request.furtherURLs = origins.dropFirst().map { "\($0)/" } }
    return request
  }

  private func tellLack(of token: HelperToken) {
    let lack = own.selection.warning(token.account, granted: token.scope)
    if let lack { context.terminal.warn(lack) }
  }

  /// The token: the account by name or by the first URL's host; every further URL must be one of its hosts too.
  private func token(for urls: [CurlURL]) throws(CommandError) -> HelperToken {
    if own.anyHost {
      guard let account = invocation.account else {
        throw .local(
          "--any-host needs to know whose token: name the account",
          next: .run("oauthctl curl \(own.words)\(onlyAccount ?? "NAME") …"),
          status: 125)
      }
      let answer = HelperToken(try context.agent.token(request(account: account)))
      tellLack(of: answer)
      return answer
    }
    let answer: HelperToken
    do throws(CommandError) {
      answer = try token(request(account: invocation.account, for: urls), urls)
    } catch {
      if let forgotten = forgottenValue { throw forgotten }
      throw error.choosing { "oauthctl curl \(own.words)\($0) …" }
    }
    if let warning = answer.warning { context.terminal.warn(warning) }
    tellLack(of: answer)
    return answer
  }

  /// For a URL; with a proof where the account's tokens need one.
  func token(
    _ request: TokenGet, _ urls: [CurlURL], nonce: String? = nil
  ) throws(CommandError) -> HelperToken {
    let token: HelperToken
    let host: String?
    do throws(CommandError) {
      let answer = try context.agent.token(request)
      (token, host) = (HelperToken(answer), answer.matchedHost)
    } catch {
      var request = request
      if let first = urls.first, request.url != nil { request.url = first.target }
      if case .agent(let failure, _) = error, failure.kind == .proofRequired,
        let obstacle = invocation.arguments.obstacleToProof(urls)
      {
        throw .local(
          "each proof of possession (DPoP) is for one request, which \(obstacle) may not leave as it is",
          next: "call oauthctl curl once for each request, without that", status: 125)
      }
      let answer = try ProvenToken.asked(
        after: error, request, method: invocation.arguments.method, nonce: nonce, context.agent)
      guard let answer else { throw error }
      (token, host) = (HelperToken(answer), answer.matchedHost)
    }
    guard host != nil || request.url == nil else {
      throw .local("the agent did not say which host the token is for", next: .run("oauthctl status"), status: 125)
    }
    return token
  }

  /// Where curl leaves the headers when nothing is tried again, only to see a 401; nil when the user's own `-D` has them.
  private func headersFile() -> Int32? {
    guard invocation.arguments.dumpHeader == nil else { return nil }
    let descriptor = clinux_memfd_create("headers", 1)
    return descriptor < 0 ? nil : descriptor
  }

  /// What the servers' heads say that curl has left there.
  private static func dump(_ descriptor: Int32, from origins: [Origin]) -> HeaderDump? {
    lseek(descriptor, 0, SEEK_SET)
    return HeaderDump(FileBytes.readAll(from: descriptor, limit: HeaderDump.limit) ?? [], from: origins)
  }
}

extension CurlPolicy.Refusal {
  /// What to do, with the account's name where it was given.
  fileprivate func step(_ account: String?) -> NextStep? {
    let step: NextStep? = run.map { .run($0) } ?? advice.map { .advice($0) }
    guard let account else { return step }
    return step?.map { $0.replacingFirst("--any-host NAME", with: "--any-host \(account)") }
  }
}
