package import HTTPTerms

/// Finds where one logs in for a URL: an issuer, or anything that an issuer protects (RFC 9728), such as an MCP server. A
/// value that says what to send next; the caller sends. No request carries a secret.
///
/// The address itself is asked first. What answers 401 with a Bearer or DPoP challenge is a protected resource, and the
/// challenge says where its metadata is; anything else is tried as an issuer, then as a resource at the well-known
/// places, and last the root of its host as an issuer, which is where MCP servers from before RFC 9728 have it.
package struct ServerSearch: Sendable {
  package struct Found: Sendable, Equatable {
    package var metadata: ServerMetadata
    package var kind: MetadataKind
    /// Nil: the address is that of the issuer.
    package var resource: WebURL?
    /// What to ask for: the challenge's scope, else all that the resource has. Empty: the server decides.
    package var scope: [String]
    /// Whether the resource takes only tokens that are bound to a key (RFC 9449).
    package var requiresDPoP = false
  }

  package enum Step: Sendable {
    /// Send this next.
    case ask(HTTPRequest)
    case found(Found)
    case failed(SearchFailure)
  }

  private enum Phase: Sendable {
    case probe
    /// The places of the resource's metadata that are left, the one that was asked first.
    case resource([String])
    /// The issuer that is asked, and those after it.
    case issuer(Discovery, Issuer, rest: [Issuer])
  }

  private let url: WebURL
  private let named: NamedHosts
  private let probe: HTTPRequest
  private var phase = Phase.probe
  private var resource: ProtectedResource?
  /// Whether what it says came from the public internet.
  private var isResourceFromPublicAddress = true
  private var challengeScope: [String]?
  private var triedAsIssuer = false
  private var triedAsResource = false
  private var triedRoot = false
  private var problems: [String] = []
  private var isTransient = false
  private var requests = 1

  /// Most requests of one search: the URL, its resource's places, and three places for each of four servers and two
  /// guesses.
  package static let requestLimit = 24

  /// Throws ``ProtocolError`` for what can be no address of a server.
  package init(_ text: String) throws(ProtocolError) {
    url = try .read(text)
    named = NamedHosts([url])
    probe = HTTPRequest(.get, text, headers: [HTTPField("Accept", "application/json, text/event-stream")])
  }

  /// The first request.
  package var first: HTTPRequest { probe }

  /// Judges what became of the request asked last. `now` is Unix seconds, for a `Retry-After` that is a date.
  package mutating func judge(_ outcome: HTTPOutcome, now: Int64) -> Step {
    let step: Step
    switch phase {
    case .probe: step = judgeProbe(outcome)
    case .resource(let places): step = judgeResource(outcome, places)
    case .issuer(var discovery, let issuer, let rest):
      switch discovery.judge(outcome, now: now) {
      case .ask(let request):
        phase = .issuer(discovery, issuer, rest: rest)
        step = .ask(request)
      case .found(let metadata, let kind): step = found(metadata, kind)
      case .failed(let failure): step = judgeIssuer(failure, issuer, rest)
      }
    }
    guard case .ask = step else { return step }
    requests += 1
    return requests <= Self.requestLimit ? step : .failed(failure())
  }

  private mutating func judgeProbe(_ outcome: HTTPOutcome) -> Step {
    switch outcome {
    case .notSent(let failure), .sentNoAnswer(let failure):
      return .failed(SearchFailure(url: url.text, reasons: [], unreachable: failure))
    case .answered(let answer):
      guard answer.status == 401,
        let challenge = Challenge.parse(answer.headers.values("WWW-Authenticate")).first(where: {
          $0.scheme == "bearer" || $0.scheme == "dpop"
        })
      else { return next() }
      challengeScope = challenge.parameter("scope").map { $0.split(separator: " ").map(String.init) }
      triedAsResource = true
      guard let text = challenge.parameter("resource_metadata") else {
        return askResource(ProtectedResource.places(url))
      }
      guard let place = try? WebURL(text), !place.origin.isThisMachine || url.origin.isThisMachine else {
        problems.append("its challenge names no usable place of metadata: \"\(Escaped.serverText(text))\"")
        return askResource(ProtectedResource.places(url))
      }
      return askResource(
        [place.text],
        isPublicOnly: named.isPublicOnly(place, inDocumentFromPublicAddress: answer.isFromPublicAddress))
    }
  }

  private mutating func askResource(_ places: [String], isPublicOnly: Bool = false) -> Step {
    guard let place = places.first else { return next() }
    phase = .resource(places)
    var request = HTTPRequest(.get, place, headers: [HTTPField("Accept", "application/json")])
    request.isPublicOnly = isPublicOnly
    return .ask(request)
  }

  private mutating func judgeResource(_ outcome: HTTPOutcome, _ places: [String]) -> Step {
    let place = places.first ?? ""
    switch outcome {
    case .notSent(let failure), .sentNoAnswer(let failure):
      problems.append("\(place): \(failure.message)")
      if failure.reason != .privateAddress { isTransient = true }
    case .answered(let answer) where answer.status == 200:
      do throws(ResourceRefusal) {
        let found = try ProtectedResource(JSONObject(reading: answer.body), asked: url, place: place)
        resource = found
        isResourceFromPublicAddress = answer.isFromPublicAddress
        return askIssuers(found.authorizationServers)
      } catch {
        problems.append("\(place): \(error)")
        // It is there, and wrong: a place further up would be about something else.
        if case .notResourceMetadata = error { break }
        return .failed(failure())
      }
    case .answered(let answer):
      if answer.status == 429 || answer.status >= 500 { isTransient = true }
      problems.append("\(place): status \(answer.status)")
    }
    return askResource(Array(places.dropFirst()))
  }

  private mutating func askIssuers(_ issuers: [Issuer]) -> Step {
    guard let issuer = issuers.first else { return resource == nil ? next() : .failed(failure()) }
    let discovery = Discovery(
      issuer: issuer,
      isPublicOnly: resource != nil
        && named.isPublicOnly(issuer.url, inDocumentFromPublicAddress: isResourceFromPublicAddress))
    phase = .issuer(discovery, issuer, rest: Array(issuers.dropFirst()))
    return .ask(discovery.first)
  }

  private mutating func judgeIssuer(_ failure: DiscoveryFailure, _ issuer: Issuer, _ rest: [Issuer]) -> Step {
    // A person types it with or without the final slash; the server's own spelling counts.
    if resource == nil, let spelled = failure.problem.spelling(of: issuer) { return askIssuers([spelled] + rest) }
    problems.append(failure.description)
    if failure.isTransient { isTransient = true }
    return askIssuers(rest)
  }

  private func found(_ metadata: ServerMetadata, _ kind: MetadataKind) -> Step {
    let scope = (challengeScope ?? resource?.scopesSupported ?? []).filter { !$0.isEmpty }
    return .found(
      Found(
        metadata: metadata, kind: kind, resource: resource?.resource, scope: scope,
        requiresDPoP: resource?.requiresDPoP == true))
  }

  /// What the address may be beside what was tried.
  private mutating func next() -> Step {
    if !triedAsIssuer, !triedAsResource || url.path.count <= 1, let issuer = try? Issuer(url.text) {
      triedAsIssuer = true
      return askIssuers([issuer])
    }
    if !triedAsResource {
      triedAsResource = true
      return askResource(ProtectedResource.places(url))
    }
    if !triedRoot, url.path.count > 1, let root = try? Issuer(url.origin.description) {
      triedRoot = true
      return askIssuers([root])
    }
    return .failed(failure())
  }

  private func failure() -> SearchFailure {
    SearchFailure(url: url.text, reasons: problems, unreachable: nil, isTransient: isTransient)
  }
}

/// Why nothing was found to log in at.
package struct SearchFailure: Error, Sendable {
  package let url: String
  /// One sentence for each thing that was tried, escaped.
  package let reasons: [String]
  /// The address itself does not answer.
  package let unreachable: HTTPFailure?
  /// Whether trying again later may help.
  package var isTransient = false

  /// One sentence, safe to show.
  package var description: String {
    if let unreachable { return "\(url) cannot be reached: \(unreachable.message)" }
    let most = reasons.suffix(3).joined(separator: "; ")
    return "\(url) is neither an authorization server nor names one" + (most.isEmpty ? "" : ": \(most)")
  }
}
