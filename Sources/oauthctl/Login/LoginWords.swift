import AgentWire
import OAuthTerms

/// What a login says. Values in, lines out.
enum LoginWords {
  /// What was found at the server of a new account.
  static func discovery(_ check: AccountCheckAnswer, issuer: String) -> String {
    let host = check.host ?? NewAccount.origin(of: issuer) ?? issuer
    switch check.discovery {
    case "none", nil: return "\(host): endpoints as given, no discovery."
    case let kind?: return "\(host): \(kind) found."
    }
  }

  /// The URL to open while a browser is being started.
  static func opening(_ url: String) -> [String] {
    ["Opening your browser. If nothing opens, go to:", "  \(url)"]
  }

  /// The URL, how to bring the redirect back by hand, and the question, which is the last line.
  static func pasteBack(
    url: String, redirectURI: String?, isListenedAt: Bool = false, problem: String? = nil, isSetUp: Bool = false,
    host: String, isRemote: Bool
  ) -> [String] {
    let place = redirectURI.map { " (\($0)?…)" } ?? ""
    let question = nothingListens(
      at: redirectURI, isListenedAt: isListenedAt, problem: problem, isSetUp: isSetUp && !isRemote, readsInput: true)
    if let question {
      return ["Open this in a browser:", "  \(url)"] + question
    }
    guard isRemote else {
      return [
        "Open this in a browser:", "  \(url)",
        "On this machine it finishes by itself. Elsewhere the browser ends on a page it cannot open\(place):",
        "copy that address and paste it here: ",
      ]
    }
    var lines = ["No browser here. Open this on any machine:", "  \(url)"]
    if let port = redirectURI.flatMap(port(of:)) {
      lines.append("  (run  ssh -L \(port):127.0.0.1:\(port) \(host)  first, and it finishes by itself)")
    }
    return lines + [
      "The browser will end on a page it cannot open\(place). That is right:",
      "copy that address and paste it here: ",
    ]
  }

  /// How a redirect comes back for which nobody listens on this machine; the last line is the question, where an answer
  /// is read. Nil: the agent listens. `isListenedAt`: it does so on https. `problem`: why it does not. `isSetUp`: the desktop
  /// brings addresses of its scheme here.
  static func nothingListens(
    at redirectURI: String?, isListenedAt: Bool = false, problem: String? = nil, isSetUp: Bool, readsInput: Bool
  ) -> [String]? {
    guard let redirectURI, problem != nil || !isListenedAt && !isPlainLoopback(redirectURI) else { return nil }
    let place = "the browser will end on \(redirectURI)?…, whether or not it can open that"
    let question = readsInput ? ["copy that address and paste it here: "] : []
    let end = readsInput ? ":" : "."
    if let problem {
      return ["Nobody listens for it here: \(PrintableText.escaped(problem, limit: 300)).", "So \(place)\(end)"]
        + question
    }
    guard let scheme = PrivateUseScheme.of(redirectURI) else { return ["Then \(place)\(end)"] + question }
    guard !isSetUp else {
      return readsInput ? ["It finishes by itself; else \(place):"] + question : ["It finishes by itself."]
    }
    return ["It finishes by itself where this was run once: oauthctl setup scheme \(scheme)", "Else \(place)\(end)"]
      + question
  }

  /// Whether the agent listens on https for the redirect of this login, by a certificate: its link is on https then, too.
  static func isListenedAt(_ login: LoginStarted) -> Bool {
    login.redirectURI?.hasPrefix("https://") == true && login.browserURL?.hasPrefix("https://") == true
  }

  /// Whether it is an address on this machine that the agent listens at without a certificate.
  private static func isPlainLoopback(_ redirectURI: String) -> Bool { redirectURI.hasPrefix("http://") }

  /// What helps where the server knows another port than the one that was chosen. `account`: the text of the account's file,
  /// where a port that is fixed stands.
  private static func portAdvice(_ redirectURI: String?, _ account: String?) -> String {
    if let port = redirectURI.flatMap(port(of:)), account?.range(ofText: "\(port)") != nil { return "" }
    return redirectURI.map(isPlainLoopback) == false ? "" : " (a fixed port: --port N)"
  }

  static let pasteQuestion = "Paste the address that the browser ended on: "
  /// After the server has refused a code.
  static let codeQuestion = "The login goes on: open its address again, and paste the one that the browser ends on: "

  /// After some time without an answer: a server that does not know the client, or the redirect address, tells the browser
  /// alone.
  static func stillWaiting(
    _ login: LoginStarted, account: String? = nil, secondsLeft: Int, readsInput: Bool
  ) -> [String] {
    let address = login.redirectURI ?? "the redirect address"
    var lines = [
      "Still waiting, for \(Duration.text(seconds: max(1, secondsLeft))) at most. Does the browser show an error? "
        + "Then check that the server knows the client id and exactly this address:",
      "  \(address)\(portAdvice(login.redirectURI, account))",
    ]
    // What listens on https has a certificate of the user's own.
    if isListenedAt(login) {
      lines.append(
        "Does it warn of this machine's own certificate? Then it does not know the authority that signed that: add it to "
          + "the browser's (mkcert -install), and open the address again.")
    }
    if readsInput { lines.append("The address that the browser ends on can be pasted here at any time.") }
    return lines
  }

  /// The end of ``stillWaiting(_:secondsLeft:readsInput:)``, in the words of the agent's own.
  static func notFinished(_ login: LoginStarted, account: String? = nil, seconds: Int) -> String {
    let why =
      login.kind == .browser
      ? "; if the browser showed an error, the server may not know the client id or the address "
        + "\(login.redirectURI ?? "that it was sent to")\(portAdvice(login.redirectURI, account))" : ""
    return "\(login.account): nobody finished the login within \(seconds) s\(why)"
  }

  /// Nothing can be pasted any more.
  static func inputHasEnded(_ login: LoginStarted, secondsLeft: Int) -> String {
    "Standard input has ended, so nothing can be pasted. Waiting \(Duration.text(seconds: secondsLeft)) at most "
      + "for a browser that reaches \(login.redirectURI ?? "this machine"); Control-C ends it."
  }

  /// A login of the other kind is under way, and there is one at a time: this is that one.
  static func joined(_ login: LoginStarted, wantsDevice: Bool) -> String? {
    guard wantsDevice, login.kind == .browser else { return nil }
    return "\(login.account): a login by browser is under way, so this is no login by device code. "
      + "Control-C gives that login up; then run this command again"
  }

  static func device(_ login: LoginStarted) -> [String] {
    var lines = ["Open this on any device:", "  \(login.verificationURI ?? "")", "and enter the code:"]
    lines.append("  \(login.userCode ?? "")")
    if let notice = login.notice { lines.append("\(PrintableText.escaped(notice, limit: 300)).") }
    if let complete = login.verificationURIComplete, complete != login.verificationURI {
      lines.append("or open this, which has the code in it:")
      lines.append("  \(complete)")
    }
    return lines
  }

  static func deviceWaits(_ login: LoginStarted) -> String {
    "The code lasts \(Duration.text(seconds: login.expiresInSeconds)). Waiting …"
  }

  static func done(_ progress: LoginProgress) -> [String] {
    var lines: [String] = []
    let renewable = progress.renewable ?? false
    let name = progress.account
    switch (progress.expiresInSeconds, renewable) {
    case (let seconds?, true):
      lines = ["Logged in as \(name). This token lasts \(Duration.text(seconds: seconds)) and is renewed by itself."]
    case (let seconds?, false):
      lines = [
        "Logged in as \(name). This token lasts \(Duration.text(seconds: seconds)); then log in again: the server gave no refresh token."
      ]
    case (nil, true):
      lines = ["Logged in as \(name). The server does not say how long this token lasts; it is renewed by itself."]
    case (nil, false):
      lines = ["Logged in as \(name). The server does not say how long this token lasts, and gave no refresh token."]
    }
    // Escaped by the agent; an agent is believed no more than its server.
    if let user = progress.user { lines.append("The server knows you as \(PrintableText.escaped(user, limit: 120)).") }
    if let missing = progress.missingScope, !missing.isEmpty {
      lines.append("Not granted: \(missing.joined(separator: " ")).")
    }
    if let borrowers = borrowers(progress) { lines.append(borrowers) }
    if let hint = progress.hint { lines.append(hint) }
    return lines
  }

  /// Who gets tokens by another login than this one, and what that means; nil: nobody does.
  static func borrowers(_ progress: LoginProgress) -> String? {
    guard let names = progress.borrowers, let first = names.first else { return nil }
    let which = names.joined(separator: ", ") + (progress.borrowersLeftOut.map { " and \($0) more" } ?? "")
    let areSeveral = names.count > 1 || progress.borrowersLeftOut != nil
    let other = progress.otherUser.map {
      (PrintableText.escaped($0.was, limit: 120), PrintableText.escaped($0.now, limit: 120))
    }
    return "\(which) \(areSeveral ? "exchange" : "exchanges") tokens of \(progress.account) "
      + (other.map { "as \($0.0)" } ?? "by another login")
      + "; \(areSeveral ? "they give" : "it gives") none until you agree to "
      + (other.map { $0.1 } ?? "this one") + ": oauthctl login \(first)"
  }

  private static func port(of redirectURI: String) -> Int? {
    guard let start = redirectURI.range(ofText: "://") else { return nil }
    let authority = redirectURI[start.upperBound...].prefix { $0 != "/" && $0 != "?" }
    guard let colon = authority.lastIndex(of: ":") else { return nil }
    return Int(authority[authority.index(after: colon)...])
  }
}
