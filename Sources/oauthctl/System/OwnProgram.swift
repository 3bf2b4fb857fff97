import AgentWire
import SystemFacts

/// This program as another one is told to start it from now on.
enum OwnProgram {
  /// Its path, for `starter`, such as "git".
  ///
  /// - Throws: `CommandError.local` where the system does not tell it, and where everybody may put another program there.
  static func path(startedBy starter: String, _ terminal: Terminal) throws(CommandError) -> String {
    guard let path = OwnExecutable.path else {
      throw .local("where oauthctl is cannot be told: \(OwnExecutable.pathProblem)", status: 1)
    }
    if let fault = ProgramBeside.fault(of: path) {
      throw .local(fault.reason, next: .advice(ProgramBeside.Fault.remedy), status: 1)
    }
    if let folder = ProgramBeside.openFolder(above: path) {
      terminal.warn(
        "\(starter) starts \(path) from now on, and everybody may put a program there once that has gone from \(folder)",
        next: .advice("\(ProgramBeside.Fault.remedy), and run this again from there"))
    }
    return path
  }
}
