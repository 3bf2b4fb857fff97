import AgentWire
import Glibc

/// One login from start to end: shows what to do, then waits for the agent, a pasted redirect and Control-C at once.
struct LoginFlow {
  let bench: Workbench
  let account: String
  let wantsDevice: Bool
  let noBrowser: Bool
  /// False once standard input gave a secret.
  let mayReadInput: Bool
  /// Takes a changed definition without asking.
  let acceptsChanges: Bool
  /// When the login is given up; nil: when the agent does.
  var timeoutSeconds: Int?

  func run() throws(CommandError) {
    // A program named in BROWSER is there for a reason, over ssh too.
    let isRemote = bench.surroundings.isRemoteSession && bench.surroundings["BROWSER"] == nil
    let login = try start(
      LoginStart(
        requestID: Self.requestID(), account: account, device: wantsDevice ? true : nil,
        remoteBrowser: isRemote || noBrowser ? true : nil))
    if let line = LoginWords.joined(login, wantsDevice: wantsDevice) { bench.terminal.warn(line) }
    let interrupts = Interrupts.capture()
    defer { Interrupts.release() }
    let (readsInput, isAsked) = show(login, isRemote: isRemote)
    let progress = try wait(for: login, readsInput: readsInput, isAsked: isAsked, interrupts: interrupts)
    for line in LoginWords.done(progress) { bench.terminal.say(line) }
    GitAuthority(bench: bench).follow(account)
  }

  /// Begins the login. Where it would send what is kept elsewhere than before, that is shown first, and what was agreed to
  /// goes along: another change is refused.
  private func start(_ request: LoginStart) throws(CommandError) -> LoginStarted {
    do {
      return try bench.agent.ask(request, about: account)
    } catch .agent(let failure, _) where failure.kind == .definitionChanged {
      let preview = try bench.agent.ask(
        AccountAccept(account: account, dryRun: true, login: true, device: request.device), about: account)
      let lines = ["\(account): the file has changed since the login:"] + preview.lines
      if acceptsChanges {
        bench.terminal.say(lines)
      } else {
        guard
          try bench.terminal.confirm(
            "Log in there, and send tokens and secrets of \(account) as shown?", about: lines,
            otherwise: "oauthctl login \(account) --accept-changes   # when you know who changed the file")
        else { throw .declined }
      }
      var agreed = request
      agreed.bindingDigest = preview.bindingDigest
      return try bench.agent.ask(agreed, about: account)
    }
  }

  /// - Returns: whether a pasted redirect URL may come from standard input, and whether the cursor stands behind the
  ///   question for it.
  private func show(_ login: LoginStarted, isRemote: Bool) -> (readsInput: Bool, isAsked: Bool) {
    switch login.kind {
    case .unattended: return (false, false)
    case .device:
      for line in LoginWords.device(login) { bench.terminal.say(line) }
      return (false, false)
    case .browser:
      let url = login.authorizationURL ?? ""
      if let notice = login.notice { bench.terminal.warn(notice) }
      // Arguments are everybody's to read: the link is worth nothing to another user, unlike the URL it leads to.
      let link = login.browserURL ?? url
      if !isRemote, !noBrowser, BrowserOpener(surroundings: bench.surroundings).open(link) {
        for line in LoginWords.opening(url) { bench.terminal.say(line) }
        // Only a person's own paste: input of a script that runs us is not ours to read.
        return (mayReadInput && bench.terminal.inputIsTerminal, false)
      }
      for entry in BrowserRule(bench.surroundings).refused where !noBrowser {
        bench.terminal.warn("BROWSER: “\(entry)” is not one program without blanks, so it was not started")
      }
      if !isRemote, !noBrowser, BrowserRule(bench.surroundings).refused.isEmpty,
        let named = bench.surroundings["BROWSER"]
      {
        bench.terminal.warn("none of the programs in BROWSER (\(named)) could be started")
      }
      let lines = LoginWords.pasteBack(
        url: url, redirectURI: login.redirectURI, host: Self.hostName, isRemote: isRemote || !noBrowser)
      for line in lines.dropLast() { bench.terminal.say(line) }
      return (mayReadInput, mayReadInput && lines.last.map(ask) ?? false)
    }
  }

  /// - Returns: whether the cursor stands behind the question now.
  private func ask(_ question: String) -> Bool {
    bench.terminal.ask(question)
    if !bench.terminal.inputIsTerminal { bench.terminal.say("") }
    return bench.terminal.inputIsTerminal
  }

  private func wait(
    for login: LoginStarted, readsInput: Bool, isAsked: Bool, interrupts: Int32?
  ) throws(CommandError) -> LoginProgress {
    var isAsked = isAsked
    // What comes by itself begins a line of its own.
    func leaveQuestion() {
      if isAsked { bench.terminal.say("") }
      isAsked = false
    }
    var told: String?
    var waiter = try waiter(for: login, told: nil)
    var ended: Result<LoginProgress, CommandError>?
    var pasted: [UInt8] = []
    var input: Int32 = readsInput ? STDIN_FILENO : -1
    var hasInput = false
    var hintDue = login.kind == .browser ? Self.monotonic() + Self.hintMilliseconds : nil
    let end = timeoutSeconds.map { Self.monotonic() + $0 * 1_000 }
    while true {
      var waiting = [
        pollfd(fd: waiter.doneDescriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: interrupts ?? -1, events: Int16(POLLIN), revents: 0),
        pollfd(fd: input, events: Int16(POLLIN), revents: 0),
      ]
      let patience = [hintDue, end].compactMap { $0 }.min().map { max(0, $0 - Self.monotonic()) } ?? -1
      let ready = poll(&waiting, nfds_t(waiting.count), Int32(clamping: patience))
      if let due = hintDue, Self.monotonic() >= due {
        hintDue = nil
        let left = seconds(of: login) - Self.hintMilliseconds / 1_000
        leaveQuestion()
        for line in LoginWords.stillWaiting(login, secondsLeft: left, readsInput: input >= 0) {
          bench.terminal.say(line)
        }
      }
      if ready <= 0 {
        if let end, Self.monotonic() >= end {
          leaveQuestion()
          throw giveUp(login)
        }
        continue
      }
      if waiting[1].revents != 0 { try cancel(login, signal: interrupts) }
      if waiting[0].revents != 0 {
        ended = waiter.value()
        guard case .success(let progress) = ended, progress.state == .pending else {
          leaveQuestion()
          break
        }
        // Whoever pasted the code has been told.
        if let notice = progress.notice, notice != told {
          leaveQuestion()
          bench.terminal.warn("\(notice). The login goes on: open its address again")
        }
        waiter = try self.waiter(for: login, told: progress.notice)
      }
      if waiting[2].revents != 0 {
        let some = FileBytes.readSome(from: STDIN_FILENO, limit: 16 << 10) ?? []
        if some.isEmpty || pasted.count > 64 << 10 { input = -1 }
        if some.isEmpty, !hasInput { try endOfInput(login) }
        hasInput = true
        pasted += some
        while let end = pasted.firstIndex(of: UInt8(ascii: "\n")) {
          let line = String(decoding: pasted[..<end], as: UTF8.self)
          pasted.removeSubrange(...end)
          isAsked = false
          switch try complete(login, pasted: line) {
          case .ended(let progress): return progress
          case .taken: break
          case .refused(let what, let question, let notice):
            told = notice ?? told
            if let what { bench.terminal.warn(what) }
            isAsked = ask(question)
          }
        }
        // The last line of a pipe may lack its end.
        if some.isEmpty, !pasted.isEmpty {
          switch try complete(login, pasted: String(decoding: pasted, as: UTF8.self)) {
          case .ended(let progress): return progress
          case .refused(let what?, _, _): bench.terminal.warn(what)
          case .taken, .refused: break
          }
        }
      }
    }
    switch ended {
    case .success(let progress): return progress
    case .failure(.agent(let failure, _)): throw .agent(failure, account: account)
    case .failure(let error): throw error
    case nil: throw .local("waiting for the login ended without a result", run: "oauthctl status", status: 1)
    }
  }

  /// How long it waits in all.
  private func seconds(of login: LoginStarted) -> Int { min(login.expiresInSeconds, timeoutSeconds ?? .max) }

  /// Nobody can paste an address. Where a browser was neither opened nor renounced, and no time was named, nobody comes to end this login.
  private func endOfInput(_ login: LoginStarted) throws(CommandError) {
    guard !noBrowser, timeoutSeconds == nil, !bench.terminal.inputIsTerminal else {
      bench.terminal.say(LoginWords.inputHasEnded(login, secondsLeft: seconds(of: login)))
      return
    }
    _ = try? bench.agent.call(LoginCancel(loginID: login.loginID), timeoutMilliseconds: 2_000)
    throw .local(
      "no browser can be opened here, and standard input has ended, so no address can be pasted",
      run:
        "oauthctl login \(account) --device   # or in a terminal; --no-browser waits for a browser that comes by itself",
      status: 64)
  }

  /// Milliseconds after which somebody who does not come back may be looking at a server's error page.
  private static let hintMilliseconds = 20_000

  private static func monotonic() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000 + time.tv_nsec / 1_000_000
  }

  private func waiter(
    for login: LoginStarted, told: String?
  ) throws(CommandError) -> Background<Result<LoginProgress, CommandError>> {
    let (agent, deadline) = (bench.agent, login.expiresInSeconds + 30)
    let waiter = Background { () -> Result<LoginProgress, CommandError> in
      Self.wait(agent, login.loginID, seconds: deadline, told: told)
    }
    guard let waiter else { throw .local("the system gives no thread to wait on", run: nil, status: 1) }
    return waiter
  }

  /// Until the login ends, or there is another notice than the one that was `told`.
  private static func wait(
    _ agent: any AgentCalling, _ loginID: String, seconds: Int, told: String?
  ) -> Result<LoginProgress, CommandError> {
    var left = seconds
    while left > 0 {
      let span = min(left, 30)
      do {
        let progress = try agent.call(
          LoginWait(loginID: loginID, timeoutMilliseconds: span * 1_000), timeoutMilliseconds: span * 1_000 + 10_000)
        if progress.state == .complete || progress.notice != told { return .success(progress) }
      } catch {
        return .failure(error)
      }
      left -= span
    }
    return .failure(.local("nobody finished the login in time", run: "oauthctl status", status: 4))
  }

  private enum Paste {
    case ended(LoginProgress)
    /// Not complete yet: the waiting call has the end.
    case taken
    /// What to say, and what to ask then; `notice` is what the waiting call will say of it.
    case refused(String?, question: String, notice: String?)
  }

  /// Gives a pasted redirect to the agent. A wrong paste does not end the login.
  private func complete(_ login: LoginStarted, pasted: String) throws(CommandError) -> Paste {
    let url = pasted.trimmed
    if url.isEmpty { return .refused(nil, question: LoginWords.pasteQuestion, notice: nil) }
    guard url.hasPrefix("http://") || url.hasPrefix("https://") else {
      return .refused(
        "that is no address: it starts with \(login.redirectURI ?? "http://127.0.0.1")",
        question: LoginWords.pasteQuestion, notice: nil)
    }
    do {
      let progress = try bench.agent.call(
        LoginComplete(loginID: login.loginID, redirectURL: url), timeoutMilliseconds: 100_000)
      return progress.state == .complete ? .ended(progress) : .taken
    } catch .agent(let failure, _) where failure.kind == .badRequest {
      // A code is good for one try, so another one is needed.
      let isCode = failure.oauthError != nil
      return .refused(
        failure.message, question: isCode ? LoginWords.codeQuestion : LoginWords.pasteQuestion,
        notice: failure.message)
    } catch .agent(let failure, _) {
      throw .agent(failure, account: account)
    }
  }

  private func giveUp(_ login: LoginStarted) -> CommandError {
    _ = try? bench.agent.call(LoginCancel(loginID: login.loginID), timeoutMilliseconds: 2_000)
    return .local(
      "\(account): nobody finished the login within \(timeoutSeconds ?? 0) s",
      run: "oauthctl login \(account)\(wantsDevice ? " --device" : "")", status: 4)
  }

  private func cancel(_ login: LoginStarted, signal descriptor: Int32?) throws(CommandError) -> Never {
    let number = descriptor.flatMap { FileBytes.readSome(from: $0, limit: 1)?.first }.map(Int32.init) ?? SIGINT
    Interrupts.release()
    _ = try? bench.agent.call(LoginCancel(loginID: login.loginID), timeoutMilliseconds: 2_000)
    bench.terminal.say("")
    bench.terminal.say("Login given up.")
    throw .silent(status: 128 + number)
  }

  private static func requestID() -> String {
    [UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max)].map { String($0, radix: 16) }.joined()
  }

  private static var hostName: String {
    var buffer = [CChar](repeating: 0, count: 256)
    guard gethostname(&buffer, 255) == 0 else { return "thishost" }
    let name = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return name.isEmpty ? "thishost" : name
  }
}

extension String {
  /// Without white space and quotes at both ends, as they come along with a paste.
  var trimmed: String {
    let isEdge: (Character) -> Bool = { $0.isWhitespace || $0 == "\"" || $0 == "'" || $0 == "<" || $0 == ">" }
    guard let first = firstIndex(where: { !isEdge($0) }), let last = lastIndex(where: { !isEdge($0) }) else {
      return ""
    }
    return String(self[first...last])
  }
}
