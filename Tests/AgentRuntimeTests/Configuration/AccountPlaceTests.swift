import AgentCore
import AgentWire
import Glibc
import Testing

@testable import AgentRuntime

@Suite("The folder that account files are made in")
struct AccountPlaceTests {
  @Test("What would keep the first account from being read is told before there is a folder for it")
  func openPlace() throws {
    let scratch = try ScratchFolder()
    let configuration = FileConfiguration(
      folder: ConfigurationFolder(path: scratch.path, home: scratch.path), uid: getuid())
    chmod(scratch.path, 0o777)
    let problem = configuration.read().problems.first
    #expect(problem?.file == scratch.path + "/accounts.d")
    #expect(problem?.reason == "the folder is in \(scratch.path), which may be written by others (mode 777)")
    #expect(problem?.nextStep == .run("chmod go-w \(scratch.path)"))
    chmod(scratch.path, 0o700)
    #expect(configuration.read().problems.isEmpty)
  }
}
