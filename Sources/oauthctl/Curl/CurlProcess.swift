import AgentWire
import Glibc
import HelperFormats

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
    settings: CurlSettings, token: HelperToken, arguments: CurlArguments, headers: Headers, output: Int32?,
    errors: Int32? = nil, input: CurlInput?
  ) throws(CommandError) {
    var wiring = Program.Wiring()
    var headersPath: String?
    var words = arguments.words(andLast: settings.lastWords(ciphers: arguments.values("ciphers").last))
    wiring.passed = { name, value, lookup in
      settings.isLeftOut(name) ? nil : CurlEnvironment.passed(name, value, lookup)
    }
    switch headers {
    case .users:
      if let file = arguments.dumpHeader { words = ["--dump-header", file] + words }
    case .kept(let descriptor):
      headersPath = "/dev/fd/\(descriptor)"
      wiring.kept.append(descriptor)
    }
    // A pipe: what curl has read is gone, and no other option of its command line finds the token there again.
    var configuration: [Int32] = [-1, -1]
    guard pipe(&configuration) == 0 else {
      throw .local("the system gives no pipe: \(FileBytes.errorText())", status: 125)
    }
    for end in configuration { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let writeEnd = configuration[1]
    defer { close(writeEnd) }
    let text: String
    do throws(HelperFormatError) {
      text = try settings.text(token, headersPath: headersPath)
    } catch {
      close(configuration[0])
      throw .local(error.message, next: .run("oauthctl status"), status: 125)
    }
    wiring.kept.append(configuration[0])
    if let authority = settings.authority { wiring.kept.append(authority) }
    if let output { wiring.descriptors.append((output, STDOUT_FILENO)) }
    if let errors { wiring.descriptors.append((errors, STDERR_FILENO)) }
    if let input, input.descriptor != STDIN_FILENO { wiring.descriptors.append((input.descriptor, STDIN_FILENO)) }
    do {
      process = try Program.start(
        ["curl", "--disable", "--config", "/dev/fd/\(configuration[0])"] + words, wiring)
      close(configuration[0])
    } catch {
      close(configuration[0])
      throw error.code == ENOENT
        ? .local(
          "curl is in no folder of PATH that only you and root may write to",
          next: "apt install curl, or your system's own way", status: 127)
        : .local("curl cannot be started: \(FileBytes.errorText(error.code))", status: 126)
    }
    Interrupts.leave(to: process)
    // A curl that ends before it has read says why itself.
    _ = FileBytes.writeAll(Array(text.utf8), to: writeEnd)
  }

  /// Waits for curl's end. Keys at the terminal reach curl itself; other signals are passed on.
  func wait() -> Int32 {
    defer { Interrupts.takeBack() }
    return Program.wait(for: process)
  }
}
