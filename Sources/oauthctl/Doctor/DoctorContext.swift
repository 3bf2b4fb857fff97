import AgentWire
import SystemFacts

/// What all checks look at: the machine, the environment, and what the agent said, if one runs.
struct DoctorContext: Sendable {
  var machine: Machine
  var environment: Environment
  var agent: AgentState
  var accounts: [AccountSummary] = []
  /// Whether `accounts` are all there are, each with its hosts.
  var knowsAllAccounts = false

  /// Whoever does not answer this soon what needs no server hangs, or was stopped.
  private static let answerMilliseconds = 5_000

  enum AgentState: Sendable {
    case running(hello: AgentHelloAnswer, status: AgentStatusAnswer)
    case absent(CommandError)
  }

  /// The agent's answer to `agent.status`, when one runs.
  var status: AgentStatusAnswer? {
    guard case .running(_, let status) = agent else { return nil }
    return status
  }

  /// Asks the agent, and starts none.
  init(machine: Machine, command: CommandContext) {
    self.machine = machine
    environment = command.environment
    do throws(CommandError) {
      let hello = try command.agent.call(AgentHello(), timeoutMilliseconds: Self.answerMilliseconds)
      // The agent sees a change of its files within a second; what it says here is of the files as they are now.
      _ = try? command.agent.call(ConfigReload(), timeoutMilliseconds: Self.answerMilliseconds)
      let status = try command.agent.call(AgentStatus(limit: 1), timeoutMilliseconds: Self.answerMilliseconds)
      agent = .running(hello: hello, status: AgentFolders(environment, status).explained(status))
    } catch {
      agent = .absent(error)
      return
    }
    // Where the vault does not open there is no list, and the vault's own finding says why.
    guard let all = try? command.allAccounts(timeoutMilliseconds: Self.answerMilliseconds) else { return }
    accounts = AgentFolders(environment, status).explained(all)
    knowsAllAccounts = [.open, .absent].contains(status?.vault.state) && !hasUnreadFolder && !hasUnreadFile
  }

  /// Whether the agent has its account files elsewhere than this shell: what it knows says nothing of the user's set-up then.
  var hasOtherFiles: Bool { AgentFolders(environment, status).shells(.configuration) != nil }

  /// Whether accounts may be there that nobody sees, because their folder is not read whole.
  var hasUnreadFolder: Bool { status?.problems.contains(where: \.isOfFolder) ?? false }

  private var hasUnreadFile: Bool {
    status?.problemsLeftOut != nil || status?.problems.contains { $0.accountName != nil } ?? false
  }

  /// Whether there is an account, or a file of one where no agent tells.
  var hasAccounts: Bool {
    let files = environment.folder(.configuration).map { machine.names($0 + "/accounts.d") } ?? []
    return !accounts.isEmpty || files.contains { $0.hasSuffix(".toml") }
  }

  /// The folder above the account files that its mode keeps from its owner, who is asking: what is behind it, if anything,
  /// nobody sees.
  var closedFolder: ClosedPath.Place? {
    let place = environment.folder(.configuration).flatMap { machine.closedPlace($0 + "/accounts.d") }
    return place.flatMap { $0.isAbove ? $0 : nil }
  }

  /// Leaves out all accounts but one.
  mutating func keep(_ account: String) throws(CommandError) {
    let all = accounts
    accounts = accounts.filter { $0.account == account }
    knowsAllAccounts = false
    // One that nobody has logged in by, and whose file cannot be read, is told by that file.
    if status?.problems.contains(where: { $0.accountName == account }) ?? false { return }
    // Where the vault does not open there is no list, and the vault's own finding says why.
    guard accounts.isEmpty, case .running = agent, [.open, .absent, .locked].contains(status?.vault.state) else {
      return
    }
    if let none = NoAccount(shut: status?.vault, named: account) { throw none.error }
    let other = CommandError.noAccount(account, among: all)
    let unknown = AgentFailure(.accountUnknown, other.sentence ?? "", hint: other.nextStep)
    throw .agent(AgentFolders(environment, status).explained(unknown, about: account), account: account)
  }

  /// A path as people write it.
  func shown(_ path: String) -> String { environment.abbreviated(path) }

  /// A path as a word of a shell's command.
  func quoted(_ path: String) -> String { ShellWord.quoted(path) }

  /// Ends the running agent, and starts another.
  var restart: NextStep { .run(status == nil ? "oauthctl status" : "oauthctl agent restart") }
}
