import ArgumentParser
import Glibc

/// `oauth-dev-server`: the development authorization server on loopback.
@main
struct OAuthDevServer: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "oauth-dev-server",
    abstract: "An OAuth authorization and resource server for development, on 127.0.0.1 only.",
    discussion: """
      Prints one line of JSON when it is ready: {"issuer":…,"port":…,"pid":…}. Ends on SIGTERM and SIGINT.

      Clients: dev (public), dev-web, dev-machine, dev-tv (device), dev-legacy (password), dev-exchange (tokens), \
      dev-api (introspection). The secret of dev-web, dev-machine, dev-exchange and dev-api is the name and "-secret". \
      User alice logs in with any password but "wrong". A resource answers at /api/hello, repositories at /git/NAME.git, \
      the log at /_dev/log; \
      POST /_dev/script changes the server while it runs.
      Example: curl --json '{"revoke_grants": true}' http://127.0.0.1:PORT/_dev/script
      """)

  @OptionGroup var settings: ServerSettings

  func run() async throws {
    let options = try settings.options()
    let gitRoot = try settings.gitRoot()
    // Sockets and pipes whose other end has gone are ordinary errors here.
    signal(SIGPIPE, SIG_IGN)
    // Nothing is kept that would have to be put away: the kernel closes the sockets, and git sees its input end.
    signal(SIGTERM) { _ in _exit(0) }
    signal(SIGINT) { _ in _exit(0) }
    let host = EngineHost(options)
    try await LoopbackServer(host: host, port: settings.port, gitRoot: gitRoot).run { [settings] port in
      let issuer = "http://127.0.0.1:\(port)" + settings.issuerPath
      await host.setIssuer(issuer)
      print("{\"issuer\":\"\(issuer)\",\"port\":\(port),\"pid\":\(getpid())}")
      fflush(nil)
    }
  }
}
