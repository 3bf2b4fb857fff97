import AgentWire
import Glibc
import OAuthTerms
import SystemFacts

/// One login from start to end: shows what to do, then waits for the agent, a pasted redirect and Control-C at once.
struct LoginFlow {
  let context: CommandContext
  let account: String
  let wantsDevice: Bool
  let noBrowser: Bool
  /// Takes a changed definition without asking.
  let acceptsChanges: Bool
  /// Of the definition that was checked, and that a person has written or was shown: a login goes by no other.
  let definitionDigest: String?
  /// Adds what is wished of this login alone.
  let wishes: (inout LoginStart) -> Void
  /// When the login is given up; nil: when the agent does.
  var timeoutSeconds: Int?
  /// This very command has replaced the account's file.
  var replacesFile = false
  /// Nil: no secret was given for this login alone.
  var secretsID: String?
  /// For a login by code at a terminal.
  var drawsQRCode = true

  func run() throws(CommandError) {
    // A program named in BROWSER is there for a reason, over ssh too.
    let isRemote = context.environment.isRemoteSession && context.environment["BROWSER"] == nil
    var request = LoginStart(
      requestID: Self.requestID(), account: account, device: wantsDevice ? true : nil,
      remoteBrowser: isRemote || noBrowser ? true : nil)
    wishes(&request)
    request.definitionDigest = definitionDigest
    request.secretsID = secretsID
    if OtherUserQuestion.canBeAsked { request.confirmsUser = true }
    if let number = Interrupts.putOff { throw .silent(status: 128 + number) }
    let login = try start(request)
    if let number = Interrupts.putOff { try giveUp(login, signal: number) }
    if let line = LoginWords.joined(login, wantsDevice: wantsDevice) { context.terminal.warn(line) }
    let interrupts = Interrupts.capture()
    defer { Interrupts.release() }
    let (readsInput, isAsked) = show(login, isRemote: isRemote)
    if login.listenerProblem != nil, !readsInput { try endOfInput(login) }
    let progress = try wait(for: login, readsInput: readsInput, isAsked: isAsked, interrupts: interrupts)
    for line in LoginWords.done(progress) { context.terminal.say(line) }
    GitAuthority(context: context).follow(account)
    context.warnOfSharedHosts(account)
  }

  /// - Returns: whether a pasted redirect URL may come from standard input, and whether the cursor stands behind the
  ///   question for it.
  private func show(_ login: LoginStarted, isRemote: Bool) -> (readsInput: Bool, isAsked: Bool) {
    switch login.kind {
    case .unattended: return (false, false)
    case .device:
      context.terminal.say(LoginWords.device(login))
      drawQRCode(login)
      context.terminal.say(LoginWords.deviceWaits(login), keepsAddresses: true)
      return (false, false)
    case .browser:
      let url = login.authorizationURL ?? ""
      if let notice = login.notice { context.terminal.warn(notice) }
      // Arguments are everybody's to read: the link is worth nothing to another user, unlike the URL it leads to, which no
      // program is started with.
      if !isRemote, !noBrowser, let link = login.browserURL,
        BrowserOpener(environment: context.environment).open(link)
      {
        context.terminal.say(LoginWords.opening(url), keepsAddresses: true)
        // Only a person's own paste: input of a script that runs us is not ours to read.
        let reads = context.terminal.inputIsTerminal
        guard
          let lines = LoginWords.nothingListens(
            at: login.redirectURI, isListenedAt: LoginWords.isListenedAt(login), problem: login.listenerProblem,
            isSetUp: isSetUp(login),
            readsInput: reads)
        else { return (reads, false) }
        context.terminal.say(reads ? Array(lines.dropLast()) : lines)
        return (reads, reads && lines.last.map(ask) ?? false)
      }
      for entry in BrowserRule(context.environment).refused where !noBrowser {
        context.terminal.warn("BROWSER: “\(entry)” is not the plain name of one program, so it was not started")
      }
      if !isRemote, !noBrowser, login.browserURL != nil, BrowserRule(context.environment).refused.isEmpty,
        let named = context.environment["BROWSER"]
      {
        context.terminal.warn("none of the programs in BROWSER (\(named)) could be started")
      }
      let lines = LoginWords.pasteBack(
        url: url, redirectURI: login.redirectURI, isListenedAt: LoginWords.isListenedAt(login),
        problem: login.listenerProblem,
        isSetUp: isSetUp(login), host: Self.hostName, isRemote: isRemote || !noBrowser)
      context.terminal.say(Array(lines.dropLast()), keepsAddresses: true)
      // Where a secret came from standard input, an address may follow it there.
      return (true, lines.last.map(ask) ?? false)
    }
  }

  /// Whether the desktop brings the redirect here.
  private func isSetUp(_ login: LoginStarted) -> Bool {
    login.redirectURI.flatMap(PrivateUseScheme.of).map { SchemeHandler(scheme: $0).isSetUp(in: context.environment) }
      ?? false
  }

  /// - Returns: whether the cursor stands behind the question now.
  private func ask(_ question: String) -> Bool {
    context.terminal.ask(question)
    if !context.terminal.inputIsTerminal { context.terminal.say("") }
    return context.terminal.inputIsTerminal
  }

  private func wait(
    for login: LoginStarted, readsInput: Bool, isAsked: Bool, interrupts: Int32?
  ) throws(CommandError) -> LoginProgress {
    var isAsked = isAsked
    // What comes by itself begins a line of its own.
    func leaveQuestion() {
      if isAsked { context.terminal.say("") }
      isAsked = false
    }
    var told: String?
    var waiter = try LoginWaiter.begin(context.agent, login, told: nil)
    var ended: Result<LoginProgress, CommandError>?
    let pastedRedirect = PastedRedirect(context: context, account: account, login: login, interrupts: interrupts)
    var input = PastedLines(reads: readsInput, isTerminal: context.terminal.inputIsTerminal)
    var hintDue = login.kind == .browser ? MonotonicClock.milliseconds() + Self.hintMilliseconds : nil
    var end = timeoutSeconds.map { MonotonicClock.milliseconds() + $0 * 1_000 }
    while true {
      var waiting = [
        pollfd(fd: waiter.doneDescriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: interrupts ?? -1, events: Int16(POLLIN), revents: 0),
        pollfd(fd: input.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      let patience = [hintDue, end].compactMap { $0 }.min().map { max(0, $0 - MonotonicClock.milliseconds()) } ?? -1
      let ready = poll(&waiting, nfds_t(waiting.count), Int32(clamping: patience))
      if let due = hintDue, MonotonicClock.milliseconds() >= due {
        hintDue = nil
        let left = seconds(of: login) - Self.hintMilliseconds / 1_000
        leaveQuestion()
        for line in LoginWords.stillWaiting(login, account: file, secondsLeft: left, readsInput: input.isOpen) {
          context.terminal.say(line)
        }
      }
      if let time = end, MonotonicClock.milliseconds() >= time {
        leaveQuestion()
        if leave(login) == nil { throw notFinished(login) }
        // How it has ended is on its way.
        end = nil
      }
      guard ready > 0 else { continue }
      if waiting[1].revents != 0 { try cancel(login, signal: interrupts) }
      if waiting[0].revents != 0 {
        ended = waiter.value()
        guard case .success(let progress) = ended, progress.state == .pending else {
          leaveQuestion()
          break
        }
        if progress.otherUser != nil {
          leaveQuestion()
          if let done = try OtherUserQuestion(context: context, login: login).ask(progress) { return done }
        }
        // Whoever pasted the code has been told.
        if let notice = progress.notice, notice != told, progress.otherUser == nil {
          leaveQuestion()
          context.terminal.warn("\(notice). The login goes on: open its address again")
        }
        waiter = try LoginWaiter.begin(context.agent, login, told: progress.notice)
      }
      if waiting[2].revents != 0 {
        let lines = input.read()
        if input.isEmpty { try endOfInput(login) }
        for line in lines {
          isAsked = false
          guard !context.terminal.inputIsTerminal || line.utf8.count < Terminal.lineBytes else {
            context.terminal.warn(
              "the terminal cuts lines after \(Terminal.lineBytes) bytes, and this address is longer: it is not used",
              next: .run("oauthctl login \(account) --device   # or with a browser on this machine"))
            isAsked = ask(LoginWords.pasteQuestion)
            continue
          }
          switch try pastedRedirect.take(line, until: end) {
          case .ended(let progress): return progress
          case .taken, .late: break
          case .interrupted: try cancel(login, signal: interrupts)
          case .refused(let what, let question, let notice):
            told = notice ?? told
            if let what { context.terminal.warn(what) }
            input.refuse()
            isAsked = input.isOpen && ask(question)
          }
          // Its time may be over.
          if !input.isOpen || end.map({ MonotonicClock.milliseconds() >= $0 }) == true { break }
        }
      }
    }
    switch ended {
    case .success(let progress): return progress
    case .failure(let error): throw LoginWaiter.explained(error, account: account)
    case nil: throw .local("waiting for the login ended without a result", next: .run("oauthctl status"), status: 1)
    }
  }

  /// The account's, as it stands.
  private var file: String? { (try? SettingsFile(account: account, in: context.environment))?.text }

  /// How long it waits in all.
  private func seconds(of login: LoginStarted) -> Int { min(login.expiresInSeconds, timeoutSeconds ?? .max) }

  /// Nobody can paste an address. Where a browser was neither opened nor renounced, and no time was named, nobody comes
  /// to end this login.
  private func endOfInput(_ login: LoginStarted) throws(CommandError) {
    if let problem = login.listenerProblem {
      _ = leave(login)
      throw .local(
        "\(account): \(problem), and no address can be pasted here",
        next: .run("oauthctl login \(account)   # when that is free again, or in a terminal, with --no-browser"),
        status: 6)
    }
    guard !noBrowser, timeoutSeconds == nil, !context.terminal.inputIsTerminal else {
      context.terminal.say(LoginWords.inputHasEnded(login, secondsLeft: seconds(of: login)))
      return
    }
    _ = leave(login)
    throw .local(
      "no browser can be opened here, and standard input has ended, so no address can be pasted",
      next: .run(
        "oauthctl login \(account) --device   # or in a terminal, with nothing piped in; --no-browser waits for a browser"
      ),
      status: 64)
  }

  /// Milliseconds after which somebody who does not come back may be looking at a server's error page.
  private static let hintMilliseconds = 20_000

  private func notFinished(_ login: LoginStarted) -> CommandError {
    .local(
      LoginWords.notFinished(login, account: file, seconds: timeoutSeconds ?? 0),
      next: .run("oauthctl login \(account)\(wantsDevice ? " --device" : "")"), status: 4)
  }

  private func cancel(_ login: LoginStarted, signal descriptor: Int32?) throws(CommandError) -> Never {
    let number = descriptor.flatMap { FileBytes.readSome(from: $0, limit: 1)?.first }.map(Int32.init) ?? SIGINT
    Interrupts.release()
    try giveUp(login, signal: number)
  }

  private func giveUp(_ login: LoginStarted, signal number: Int32) throws(CommandError) -> Never {
    let refusal = refusal(toGiveUp: login)
    context.terminal.say("")
    if let refusal { context.terminal.fail(refusal) } else { context.terminal.say("Login given up.") }
    throw .silent(status: 128 + number)
  }

  /// Gives the login up where this command has begun it: one that it has joined goes on.
  private func leave(_ login: LoginStarted) -> CommandError? { login.joined == true ? nil : refusal(toGiveUp: login) }

  /// Gives the login up. Returns why it is too late for that: somebody is logged in by it; nil: it is not.
  private func refusal(toGiveUp login: LoginStarted) -> CommandError? {
    do throws(CommandError) {
      _ = try context.agent.tell(
        LoginCancel(loginID: login.loginID), timeoutMilliseconds: LoginCancel.timeoutMilliseconds)
    } catch {
      if case .agent(let failure, _) = error, failure.kind == .loginPending { return error }
    }
    return nil
  }

  /// By which the agent knows the secrets that this command gives for its login.
  static let ownSecretsID = requestID()

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
