import AgentWire
import ArgumentParser
import HTTPTerms
import SystemFacts

extension TokenFormat: ExpressibleByArgument {}

struct GetTokenCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: "get-token", abstract: "Prints the current access token.",
    discussion: "Example: TOKEN=$(oauthctl get-token work)")

  @Argument(help: "Account name. May be left out where one account fits.", completion: .accountName) var name: String?
  @Option(help: "URL the token is for: finds the account, and makes sure the host is one of its own.") var url: String?
  @Option(help: "How it is printed; headers: a JSON object of HTTP headers, which Claude Code's headersHelper wants.")
  var format: TokenFormat?
  @Flag(help: "The same as --format json.") var json = false
  @Option(
    help: ArgumentHelp(
      "Method of the request to --url, where the account's tokens need a proof (DPoP; default GET).",
      valueName: "method")) var method: String?
  @Option(help: ArgumentHelp("Nonce for that proof, as the URL's server gave it.", valueName: "text"))
  var nonce: String?
  @Option(help: "access, or id: the ID token of the login (scope openid).") var type: TokenType = .access
  @Flag(name: .customLong("rejected-stdin"), help: "Standard input holds a token that an API answered 401 for.")
  var rejectedFromInput = false
  @Option(
    name: .customLong("rejected-fingerprint"),
    help: ArgumentHelp("Fingerprint of a token that an API answered 401 for.", valueName: "sha256:hex"))
  var rejectedFingerprint: String?
  @Option(
    name: .customLong("min-validity"), parsing: .unconditional,
    help: ArgumentHelp(
      "How long it must still be valid (default: a third of its life, at most 60).", valueName: "seconds"))
  var minValiditySeconds: Int?
  @Option(parsing: .unconditionalSingleValue, help: "Scope to ask for; repeatable.") var scope: [String] = []
  @Option(help: "Resource the token is for (RFC 8707); repeatable.") var resource: [String] = []
  @Option(help: "Audience the token is for; repeatable.") var audience: [String] = []
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How long to wait for it (default 30); a failure that may pass is retried as long (default 3).",
      valueName: "seconds"))
  var timeout: Int?
  @Flag(help: "Refreshes even if the token looks good.") var force = false
  @Flag(name: .customLong("best-effort"), help: "Prints the token even if it lives shorter than --min-validity.")
  var bestEffort = false
  @OptionGroup var verbosity: Verbosity

  func run(_ context: CommandContext) throws(CommandError) {
    if json, let format, format != .json { throw .usage("--json and --format \(format): give one") }
    if type == .id { return try printIDToken(context) }
    let format = json ? .json : self.format ?? .token
    var request = try request()
    if rejectedFromInput {
      request.rejected = RejectedToken(
        token: try context.terminal.secretFromInput("token", asking: "Token that was rejected"))
    }
    // JSON shows the scopes, which the shortcut of `token` leaves out.
    let answer: TokenAnswer
    do throws(CommandError) {
      answer =
        format == .json
        ? try TokenRetry().run(request) { request throws(CommandError) in
          try context.agent.call(
            request, about: name,
            timeoutMilliseconds: (request.timeoutMilliseconds ?? WireLimits.defaultTimeoutMilliseconds) + 5_000)
        } : try context.agent.token(request)
    } catch {
      if format != .token,
        let proven = try ProvenToken.asked(
          after: error, request, method: method ?? "GET", nonce: nonce, context.agent),
        let text = try format.text(proven)
      {
        if let warning = proven.warning { context.terminal.warn(warning) }
        context.terminal.data(text)
        if let lack = selection.warning(proven.account, granted: proven.scope) { context.terminal.warn(lack) }
        return
      }
      throw error.choosing { "oauthctl get-token \($0)" }
    }
    if let warning = answer.warning { context.terminal.warn(warning) }
    context.terminal.data(try format.text(answer))
    if let lack = selection.warning(answer.account, granted: answer.scope) { context.terminal.warn(lack) }
  }

  var selection: TokenSelection { TokenSelection(scope: scope, resource: resource, audience: audience) }

  /// As the agent reads it.
  private static func isFingerprint(_ text: String) -> Bool {
    let digits = text.utf8.dropFirst(7)
    return text.hasPrefix("sha256:") && digits.count == 32
      && digits.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  /// What the agent would refuse, by the name that was typed. Plain http to another machine is the agent's to refuse: that
  /// is nothing wrong with the URL.
  private static func checkURL(_ url: String) throws(CommandError) {
    do throws(URLProblem) { _ = try WebURL(url) } catch {
      guard error != .plainHTTP else { return }
      throw .usage("--url \(ShellWord.quoted(url)): \(error)", next: "give an https URL (http on loopback only)")
    }
  }

  /// The request these flags mean, without what `--rejected-stdin` brings.
  func request() throws(CommandError) -> TokenGet {
    if let name, url == nil, name.contains("://") {
      throw .usage(
        "\(name) is an address, and this is an account's name",
        next: .run("oauthctl get-token --url \(ShellWord.quoted(name))"))
    }
    if let name { try AccountName.check(name) }
    try selection.check()
    if rejectedFromInput, rejectedFingerprint != nil {
      throw .usage("--rejected-stdin and --rejected-fingerprint say the same: give one")
    }
    if method != nil || nonce != nil, url == nil {
      throw .usage("--method and --nonce are of a request to --url: name it")
    }
    if let url { try Self.checkURL(url) }
    if let method, !HTTPToken.isToken(method) || method.utf8.count > DPoPProof.methodLimit {
      throw .usage("--method \(ShellWord.quoted(method)): that is no method of HTTP")
    }
    if let rejectedFingerprint, !Self.isFingerprint(rejectedFingerprint) {
      throw .usage("--rejected-fingerprint takes sha256: and 32 hex digits, as docs/protocol.md has them")
    }
    var request = TokenGet(account: name, url: url)
    selection.apply(to: &request)
    if let minValiditySeconds {
      guard (0...TokenLine.greatestValiditySeconds).contains(minValiditySeconds) else {
        throw .usage(
          "--min-validity takes 0 to \(TokenLine.greatestValiditySeconds) seconds, not \(minValiditySeconds)")
      }
      request.minValiditySeconds = minValiditySeconds
    }
    if let timeout {
      guard (1...WireLimits.timeoutMilliseconds / 1_000).contains(timeout) else {
        throw .usage("--timeout takes 1 to \(WireLimits.timeoutMilliseconds / 1_000) seconds, not \(timeout)")
      }
      request.timeoutMilliseconds = timeout * 1_000
    }
    request.force = force ? true : nil
    request.bestEffort = bestEffort ? true : nil
    if let rejectedFingerprint {
      request.rejected = RejectedToken(fingerprint: rejectedFingerprint)
    }
    return request
  }
}
