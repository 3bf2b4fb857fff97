import AgentWire
import HelperFormats

extension HelperRun {
  static func git(
    _ context: CommandContext, account: String? = nil,
    isSetUp: @escaping @Sendable (String) -> Bool = GitConfiguration.isSetUp
  ) -> HelperRun {
    var run = HelperRun(context: context, account: account, isSetUp: isSetUp) { choice, origin in
      GitAdvice.step(choice, origin)
    }
    run.check = { (token, question) throws(CommandError) in
      let asked = try GitProxy.check(question.url, for: token.account, context.environment)
      return try GitAuthority(context: context).check(question, for: token) || asked
    }
    return run
  }
}

/// How a person tells git which account of a server is meant.
enum GitAdvice {
  static func step(_ choice: HelperRun.AccountChoice, _ origin: String) -> NextStep {
    choice.isUnknown ? otherName(choice.names, at: origin) : self.choice(choice, at: origin)
  }

  /// For the whole server, for this repository's address, or for whoever asks.
  private static func choice(_ choice: HelperRun.AccountChoice, at origin: String) -> NextStep {
    let commands = NamedChoice.text(choice.names) { "git config --global credential.\(origin).username \($0)" }
    let other = choice.other.map { ", or \($0.text)" } ?? ""
    return .run(commands + "   # or in the address, like \(address(choice.names, at: origin))\(other)")
  }

  /// Where the user name that git gave is nobody's. One in the address wins over git's configuration, so that is where it
  /// has to be changed first.
  private static func otherName(_ names: [String], at origin: String) -> NextStep {
    .advice(
      "write the account's name in the repository's address, like \(address(names, at: origin)), or take the name out there "
        + "(see: git remote -v; where no name is: git config --get-all credential.\(origin).username)")
  }

  static func address(_ names: [String], at origin: String) -> String {
    guard let scheme = origin.range(ofText: "://") else { return origin }
    return "\(origin[..<scheme.upperBound])\(names.first ?? "NAME")@\(origin[scheme.upperBound...])/…"
  }
}
