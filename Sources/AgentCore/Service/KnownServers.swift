import HTTPTerms
import OAuthProtocol

/// A server as accounts reach it: what fails for one of them fails for all with the same route.
struct ServerRoute: Hashable {
  private(set) var origin: String
  /// For people.
  let host: String
  let proxy: String?
  let authority: NamedAuthority?

  /// The one that `url` is at.
  init(_ url: String, _ route: HTTPRoute) {
    let origin = (try? WebURL(url))?.origin
    self.origin = origin?.description ?? url
    host = origin?.host ?? url
    proxy = route.proxy
    authority = route.authority
  }

  /// The routes under which the queue counts all searches, and all metadata requests of logins, whatever their hosts.
  static let searches = ServerRoute("searches", HTTPRoute())
  static let discoveries = ServerRoute("discoveries", HTTPRoute())

  /// The route under which the queue counts what this server is told to revoke.
  var revocations: ServerRoute { route(" revocations") }

  /// The route under which the queue counts the question what time it is there: servers that do not answer keep no other
  /// from being asked.
  var clocks: ServerRoute { route(" clocks") }

  private func route(_ end: String) -> ServerRoute {
    var route = self
    route.origin += end
    return route
  }

  /// The one that gives the tokens.
  init(_ binding: DefinitionBinding) { self.init(binding.tokenEndpoint, binding.route) }

  /// The one that is told to revoke.
  init(_ revocation: RevocationRecord) {
    let binding = revocation.binding
    self.init(revocation.clientURI ?? binding.revocationEndpoint ?? binding.tokenEndpoint, binding.route)
  }
}

/// What all accounts of a server share. A class: each of them refers to it, and nobody looks it up.
final class Server {
  let route: ServerRoute
  var circuit = ServerCircuit()
  /// As its last answer told it.
  var clock: ServerClock?
  /// Accounts that have found it unreachable: one of them is woken when it may be tried, all when it answers.
  private(set) var parked: Set<String> = []
  /// Of these the ones that somebody waits for: told of every try that failed.
  private(set) var askers: Set<String> = []
  /// Seconds that the last plan waited for its turn, while that is longer than its token lives; nil: it keeps up.
  private(set) var lag: Double?

  init(_ route: ServerRoute) { self.route = route }

  /// `name` waits here while the server cannot be reached, unless it is the one that tries. Returns whether it does.
  func park(_ name: String, isAsked: Bool) -> Bool {
    let isHeld = circuit.isOpen && circuit.probe != name
    if isHeld { parked.insert(name) } else { parked.remove(name) }
    if isHeld, isAsked { askers.insert(name) } else { askers.remove(name) }
    return isHeld
  }

  /// Some of those who wait, to be tried one after the other: those first that somebody asks for. They wait no longer.
  func candidates(most: Int) -> Set<String> { askers.union(parked.prefix(most)) }

  func unpark(_ name: String) { parked.remove(name) }

  /// The server answers again. Returns every account that waits for it.
  func release() -> Set<String> {
    defer { (parked, askers) = ([], []) }
    return parked.union(askers)
  }

  /// A plan has waited so many seconds for its turn. One whose turn comes later than its token lives cannot keep up.
  func noteWait(_ seconds: Double, lifeSeconds: Double) {
    if seconds > lifeSeconds { lag = seconds } else if seconds < lifeSeconds / 2 { lag = nil }
  }
}

/// What a request says about its server.
enum ServerNews {
  /// It answers, whatever it says.
  case answer
  /// It could not be reached, or no whole answer came.
  case failure(String)
}

/// What is known of servers: which cannot be reached, who waits for them, and what time it is there.
struct KnownServers {
  /// What a request's end has changed.
  enum Change {
    case nothing
    /// Too many accounts have failed to reach it: from now on one at a time tries.
    case isDead(Server)
    /// It is dead, and the try of the account that made it has failed.
    case staysDead(Server)
    /// It answers again.
    case isBack(Server)
  }

  private var servers: [ServerRoute: Server] = [:]

  subscript(route: ServerRoute) -> Server? { servers[route] }
  var all: some Sequence<Server> { servers.values }

  /// The one at `route`, of which nothing may be known yet.
  mutating func server(_ route: ServerRoute) -> Server {
    if let known = servers[route] { return known }
    let new = Server(route)
    servers[route] = new
    return new
  }

  /// Notes at boot second `now` what a request of `name` says of its server. `spread` is in 0..<1.
  mutating func note(
    _ news: ServerNews, of route: ServerRoute, for name: String, at now: Double, spread: @autoclosure () -> Double
  ) -> Change {
    switch news {
    case .answer:
      // Of a server that nothing is known of, only failures are worth keeping.
      guard let server = servers[route] else { return .nothing }
      let wasDead = server.circuit.isOpen
      server.circuit.didAnswer()
      return wasDead ? .isBack(server) : .nothing
    case .failure(let reason):
      let server = server(route)
      let wasDead = server.circuit.isOpen
      server.circuit.didFail(name, reason, at: now, spread: spread())
      guard server.circuit.isOpen else { return .nothing }
      return wasDead ? .staysDead(server) : .isDead(server)
    }
  }

  /// What is wrong with them, one sentence each.
  var conditions: [String] {
    let dead = all.compactMap { server in
      server.circuit.reason.map { "\(server.route.origin) cannot be reached (\($0)); one account at a time tries" }
    }
    let late = all.compactMap { server in
      server.lag.map {
        "\(server.route.origin): refreshes take longer than tokens live (they wait \(Int($0)) s for their turn)"
      }
    }
    return dead.sorted() + late.sorted()
  }

  /// One sentence for each host whose clock differs from this machine's.
  func clockRemarks(at now: Moment) -> [(host: String, text: String)] {
    all.compactMap { server in
      server.clock?.remark(host: server.route.host, at: now).map { (server.route.host, $0) }
    }
  }
}
