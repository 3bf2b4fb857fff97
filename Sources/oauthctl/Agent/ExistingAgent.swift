import AgentClient
import AgentWire

/// The agent that runs already: none is started.
struct ExistingAgent: AgentCalling {
  func call<P: RequestParameters>(_ parameters: P, timeoutMilliseconds: Int) throws(CommandError) -> P.Answer {
    do {
      return try AgentStarter().connect(starting: false).call(parameters, timeoutMilliseconds: timeoutMilliseconds)
    } catch {
      throw CommandError(error)
    }
  }
}
