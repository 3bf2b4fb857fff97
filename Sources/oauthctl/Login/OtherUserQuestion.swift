import AgentWire
import Glibc

/// A login has ended as somebody else than the one before it: whether it takes that one's place.
struct OtherUserQuestion {
  let context: CommandContext
  let login: LoginStarted

  /// Whether there is a terminal to ask on.
  static var canBeAsked: Bool {
    let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
    if descriptor >= 0 { close(descriptor) }
    return descriptor >= 0
  }

  /// A `sub` of 255 characters, and a name of 100 with what is said of it.
  private static func shown(_ who: String) -> String { PrintableText.escaped(who, limit: 400) }

  /// - Returns: the end of the login; nil: it goes on.
  /// - Throws: `CommandError.declined` after a no, with the login given up and the one before in its place.
  func ask(_ progress: LoginProgress) throws(CommandError) -> LoginProgress? {
    guard let other = progress.otherUser else { return nil }
    let (was, now) = (Self.shown(other.was), Self.shown(other.now))
    attend()
    let about =
      ["\(login.account): the server knows you as \(now)."] + [LoginWords.borrowers(progress)].compactMap(\.self)
    // Who cannot ask may have joined a login whose question stands elsewhere: only a person's no ends it, and an interrupt at
    // the question is one.
    var ending = CommandError.declined
    var isAgreed = false
    do throws(CommandError) {
      isAgreed = try context.terminal.confirm(
        "Replace the login of \(was) by this one?", about: about,
        otherwise: .run("oauthctl login \(login.account) --user USER"))
    } catch .silent(let status) {
      ending = .silent(status: status)
    }
    guard isAgreed else {
      _ = try? context.agent.call(
        LoginCancel(loginID: login.loginID), timeoutMilliseconds: LoginCancel.timeoutMilliseconds)
      let end = try? context.agent.call(
        LoginWait(loginID: login.loginID, timeoutMilliseconds: 2_000), timeoutMilliseconds: 4_000)
      guard end?.state == .complete else { throw ending }
      throw .local(
        "\(login.account): another command has agreed to it meanwhile: the login is \(now)'s now",
        next: .run("oauthctl logout \(login.account)   # to end that one"), status: 1)
    }
    var end = try context.agent.ask(LoginConfirm(loginID: login.loginID), about: login.account)
    guard end.state == .complete else { return nil }
    // They stood above the question.
    (end.borrowers, end.borrowersLeftOut) = (nil, nil)
    return end
  }

  /// Lets the agent know that somebody is asked, for as long as the question stands and this program runs: else another
  /// command may begin the login anew.
  private func attend() {
    let (agent, request) = (context.agent, LoginWait(loginID: login.loginID, timeoutMilliseconds: 5_000))
    // Without a thread for it the person is asked all the same.
    _ = Background {
      while (try? agent.call(request, timeoutMilliseconds: 15_000))?.otherUser != nil {}
    }
  }
}
