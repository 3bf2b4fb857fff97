package import AgentWire

/// One request that reached the loopback redirect listener (RFC 8252 §7.3).
package struct RedirectHit: Sendable {
  package var method: String
  /// Origin-form request target, at most 16 KiB.
  package var target: String

  package init(method: String, target: String) {
    self.method = method
    self.target = target
  }
}

/// What the browser is shown.
package enum RedirectPage: Sendable, Equatable {
  /// Not the redirect: 404, the listener goes on.
  case notFound
  /// Another method than GET: 405.
  case methodNotAllowed
  /// The login has what it needs. The browser is sent on to a clean address, so that the code leaves the address bar.
  case loggedIn
  /// A person is asked at the terminal whether the login counts. The browser is sent on likewise.
  case asked
  /// The server said no; `reason` is escaped text.
  case refused(reason: String)
  /// The server refused the code; the login and the listener go on. `reason` is escaped text.
  case codeRefused(reason: String)
  /// A wrong or used `state`: said without detail, the listener goes on.
  case ignored
  /// The link that the browser was started with: it is sent on to the authorization URL.
  case forward(String)
  /// A link that was followed before.
  case linkUsed
}

/// A loopback listener that waits for one browser.
package protocol RedirectListening: Sendable {
  /// The port that was bound.
  var port: Int { get }
  /// Until when browsers take what it proves itself with, in seconds since 1970; nil: it speaks plain HTTP.
  var certificateEnd: Int? { get }
  /// Lets answers that are being written finish, then closes.
  func close() async
}

/// Opens loopback listeners; the live ones are served by processes of their own.
package protocol RedirectReceiver: Sendable {
  /// Reads what a listener for https redirects at `host` proves itself with. Throws a ``RedirectListenerError`` that names
  /// the file.
  func identity(_ files: RedirectIdentityFiles, host: String) async throws -> RedirectIdentity
  /// Binds `host` (`127.0.0.1` or `::1`) and `port` (0: any free one). With an identity browsers speak TLS. `onHit` is called
  /// for every request, one at a time. Throws a ``RedirectListenerError`` that names the port when it is taken, or the file
  /// that no browser would take.
  func listen(
    host: String, port: Int, identity: RedirectIdentity?,
    onHit: @escaping @Sendable (RedirectHit) async -> RedirectPage
  ) async throws -> any RedirectListening
}

extension RedirectReceiver {
  /// A listener for http redirects.
  package func listen(
    host: String, port: Int, onHit: @escaping @Sendable (RedirectHit) async -> RedirectPage
  ) async throws -> any RedirectListening {
    try await listen(host: host, port: port, identity: nil, onHit: onHit)
  }
}

package struct RedirectListenerError: Error, Sendable {
  package var message: String
  /// Somebody else listens there.
  package var isTaken: Bool
  /// Whether another user of this machine may listen there during the login.
  package var isForOthers: Bool
  /// A file that the account names is not what it has to be.
  package var isOfFile: Bool
  /// What to do.
  package var hint: NextStep

  package init(
    _ message: String, isTaken: Bool = false, isForOthers: Bool = true, isOfFile: Bool = false,
    hint: NextStep = "end what uses it, or register another port: --port N"
  ) {
    self.message = message
    self.isTaken = isTaken
    self.isForOthers = isForOthers
    self.isOfFile = isOfFile
    self.hint = hint
  }
}
