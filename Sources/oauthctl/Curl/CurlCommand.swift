import AgentWire
import ArgumentParser
import HelperFormats
import SystemFacts

struct CurlCommand: ContextCommand {
  static let configuration = CommandConfiguration(
    commandName: Dialect.curl.subcommand, abstract: "Runs curl with the current access token.",
    usage: """
      oauthctl curl [--any-host] [--scope SCOPE] [--resource URL] [--audience TEXT] [NAME] CURL-ARGUMENTS…
      """,
    discussion: """
      The token reaches curl by an inherited descriptor: it is never in argv, the environment or a file, and goes \
      only to the account's hosts, over https (plain http on this machine). A 401 gets one new token and one more try.
      The first word is an account NAME when it is spelled like one and a URL follows it; else the URL's host finds \
      the account. --any-host, before NAME, sends the token to whatever host you name; without it, what could lead the \
      token to another host is refused (a Host header, --config and their like, and --insecure for other machines). \
      --scope, --resource and \
      --audience, there too and repeatable, ask for a token of their own, as get-token does.
      The exit status is curl's, so 0 for a 401 that is shown (curl's --fail makes it 22); 125 when \
      oauthctl fails, 126 and 127 when curl cannot be started or found.
      Example: oauthctl curl work https://gitlab.example.com/api/v4/user
      """)

  @Argument(
    parsing: .captureForPassthrough, help: "The options above, an account NAME, and what curl takes.",
    completion: .curlWord)
  var arguments: [String] = []

  func run(_ context: CommandContext) throws(CommandError) {
    guard !arguments.isEmpty else { throw .local("no URL", next: .run("oauthctl curl --help"), status: 125) }
    if arguments.first == "--help" {
      let help = CurlCommand.helpMessage().split(separator: "\n", omittingEmptySubsequences: false)
      context.terminal.page(help.map(String.init))
      return
    }
    do throws(CommandError) {
      let status = try CurlRun(context: context, invocation: CurlInvocation(arguments)).run()
      if status != 0 { throw CommandError.silent(status: status) }
    } catch {
      throw error.asChildFailure
    }
  }
}

/// The words after `oauthctl curl`, taken apart.
struct CurlInvocation: Sendable, Equatable {
  var own = CurlOwnOptions()
  var account: String?
  var arguments: CurlArguments

  /// - Throws: `CommandError.local` with status 125.
  init(_ words: [String]) throws(CommandError) {
    var words = words[...]
    do {
      own = try CurlOwnOptions(takenFrom: &words)
      do { try own.selection.check() } catch { throw error.asChildFailure }
      if let first = words.first, AccountName.isValid(first) {
        let rest = try CurlArguments(Array(words.dropFirst()))
        if !rest.urls.isEmpty {
          account = first
          arguments = rest
          return
        }
        // A bare word is no host that anybody serves: it is the account, and the URL was left out.
        if !first.contains("."), first != "localhost" {
          throw CommandError.local(
            "no URL after the account \(first)", next: .run("oauthctl curl \(own.words)\(first) https://…"),
            status: 125)
        }
      }
      arguments = try CurlArguments(Array(words))
      if arguments.urls.isEmpty, let last = own.swallowing, last.word.contains("://") {
        throw Self.valueForgotten(last, "it took the URL for it, and no other is there")
      }
    } catch let error as CommandError {
      throw error
    } catch let error as CurlOwnOptions.MissingValue {
      throw .local("\(error.option) lacks its value", next: .run("oauthctl curl --help"), status: 125)
    } catch {
      throw Self.failure(error)
    }
  }

  /// Operands that can be accounts' names and are hardly hosts. Only asked where no name came first.
  var possibleNames: [String] {
    guard account == nil else { return [] }
    return arguments.urls.filter { AccountName.isValid($0) && !$0.contains(".") && $0 != "localhost" }
  }

  /// `last` has what was meant for something else.
  static func valueForgotten(_ last: CurlOwnOptions.Swallowing, _ why: String) -> CommandError {
    let rest = last.word.contains("://") ? ShellWord.quoted(last.word) : "\(last.word) https://…"
    return .local(
      "\(last.option) lacks its value: \(why)",
      next: .run(
        "oauthctl curl \(last.option) \(last.option == "--resource" ? "URL" : "VALUE") \(rest)   "
          + "# or, where that is the value: \(last.option)=\(ShellWord.quoted(last.word))"), status: 125)
  }

  private static func failure(_ error: any Error) -> CommandError {
    switch error as? CurlArguments.Refusal {
    case .unknownOption(let word) where CurlOwnOptions.name(in: word) != nil:
      .local(
        "\(CurlOwnOptions.name(in: word) ?? word) is oauthctl's own, and comes before the account and what curl takes",
        next: .run("oauthctl curl \(CurlOwnOptions.name(in: word) ?? word) …"), status: 125)
    case .unknownOption(let option) where option == "--account" || option.hasPrefix("--account="):
      .local(
        "--account is no option of curl, and the account stands before what curl takes",
        next: "write its name in the place of --account, as in: oauthctl curl work https://…", status: 125)
    case .unknownOption(let option) where ["-h", "--help", "-V", "--version", "-M", "--manual"].contains(option):
      .local(
        "\(option) sends nothing, so it needs no token",
        next: .run("curl \(option)   # of this command: oauthctl curl --help"), status: 125)
    case .unknownOption(let option):
      .local(
        "curl option \(option) is not known here, so its next word could be anything",
        next: "write the option's full name, or use curl itself", status: 125)
    case .missingValue(let option):
      .local("curl's \(option) lacks its value", next: .run("curl --help all"), status: 125)
    case nil:
      .local("curl's arguments cannot be read", next: .run("oauthctl curl --help"), status: 125)
    }
  }
}

extension CommandError {
  /// The same failure with the status that says "not the child's" (125), unless it has one of that kind already.
  var asChildFailure: CommandError {
    switch self {
    case .silent: return self
    case .local(_, _, let status) where (125...127).contains(status): return self
    case .usage, .agent, .notReachable, .noAnswer, .local: return .local(sentence ?? "", next: nextStep, status: 125)
    }
  }
}
