import AgentWire
import CLinux
import Glibc

/// One curl: started with the token on a descriptor that only it inherits.
struct CurlProcess {
  /// What happens to the response headers.
  enum Headers {
    /// Curl does with them what the user said.
    case users
    /// Curl writes them to this descriptor of ours.
    case kept(at: Int32)
  }

  private let process: pid_t

  /// - Throws: `CommandError.local` with status 126 or 127 when curl cannot be started or found, 125 for the rest.
  init(
    settings: CurlSettings, answer: TokenAnswer, arguments: CurlArguments, headers: Headers, output: Int32?,
    input: CurlInput?
  ) throws(CommandError) {
    var wiring = Program.Wiring()
    var headersPath: String?
    var words = arguments.words
    switch headers {
    case .users:
      if let file = arguments.dumpHeader { words = ["--dump-header", file] + words }
    case .kept(let descriptor):
      headersPath = "/dev/fd/\(descriptor)"
      wiring.kept.append(descriptor)
    }
    let configuration = clinux_memfd_create("curl", 1)
    guard configuration >= 0 else {
      throw .local("the system gives no memory file: \(FileBytes.errorText())", run: nil, status: 125)
    }
    defer { close(configuration) }
    let text = try settings.text(answer, headersPath: headersPath)
    guard FileBytes.writeAll(Array(text.utf8), to: configuration), lseek(configuration, 0, SEEK_SET) == 0 else {
      throw .local("curl's configuration cannot be written: \(FileBytes.errorText())", run: nil, status: 125)
    }
    wiring.kept.append(configuration)
    if let output { wiring.descriptors.append((output, STDOUT_FILENO)) }
    if let input, input.descriptor != STDIN_FILENO { wiring.descriptors.append((input.descriptor, STDIN_FILENO)) }
    do {
      process = try Program.start(
        ["curl", "--disable", "--config", "/dev/fd/\(configuration)"] + words, wiring)
    } catch {
      throw error.code == ENOENT
        ? .local("curl is not in PATH", run: "apt install curl, or your system's own way", status: 127)
        : .local("curl cannot be started: \(FileBytes.errorText(error.code))", run: nil, status: 126)
    }
    Interrupts.leave(to: process)
  }

  /// Waits for curl's end. Keys at the terminal reach curl itself; other signals are passed on.
  func wait() -> Int32 {
    defer { Interrupts.takeBack() }
    return Program.wait(for: process)
  }
}
