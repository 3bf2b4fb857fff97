import AgentWire
import SystemFacts

/// This program as another one is told to start it from now on.
enum OwnProgram {
  /// Its path.
  ///
  /// - Throws: `CommandError.local` where the system does not tell it, and where everybody may put another program there.
  static func path() throws(CommandError) -> String {
    guard let path = OwnExecutable.path else {
      throw .local("where oauthctl is cannot be told: \(OwnExecutable.pathProblem)", status: 1)
    }
    if let fault = ProgramBeside.fault(of: path) {
      throw .local(fault.reason, next: .advice(ProgramBeside.Fault.remedy), status: 1)
    }
    return path
  }

  /// Tells where somebody else may put a program in the place of this one, at once or once it has gone, as it does from /tmp.
  /// `starter` is whom it is named to, such as "git".
  static func warnOfOpenFolder(named starter: String, _ terminal: Terminal) {
    guard let path = OwnExecutable.path, let folder = ProgramBeside.openFolder(above: path) else { return }
    terminal.warn(
      "\(starter) is to start \(path), and others may put a program in its place in \(folder)",
      next: .advice("\(ProgramBeside.Fault.remedy), and run this again from there"))
  }
}
