import Sealing

/// Finding a server's metadata: which requests in which order, and what their answers mean. A value; the caller sends.
///
/// RFC 8414 is asked first, then OpenID Connect in both places. A document that is there and wrong does not end the
/// search (some servers answer the first place for another tenant), but its refusal is what a failed search reports.
package struct Discovery: Sendable {
  package enum Step: Sendable {
    /// Send this next.
    case ask(HTTPRequest)
    case found(ServerMetadata, MetadataKind)
    case failed(DiscoveryFailure)
  }

  private let issuer: Issuer
  /// See ``HTTPRequest/isPublicOnly``.
  private let isPublicOnly: Bool
  private var remaining: [MetadataKind]
  private var problems: [(kind: MetadataKind, problem: DiscoveryFailure.Problem)] = []

  package init(issuer: Issuer, isPublicOnly: Bool = false) {
    self.issuer = issuer
    self.isPublicOnly = isPublicOnly
    remaining = issuer.places
  }

  /// The first request.
  package var first: HTTPRequest { request(.oauth) }

  /// Judges what became of the request asked last.
  ///
  /// `now` is Unix seconds, for a `Retry-After` that is a date.
  package mutating func judge(_ outcome: HTTPOutcome, now: Int64) -> Step {
    guard let kind = remaining.first else { return .failed(failure()) }
    remaining.removeFirst()
    switch outcome {
    case .notSent(let failure), .sentNoAnswer(let failure):
      problems.append((kind, .unreachable(failure)))
    case .answered(let answer):
      do throws(DiscoveryFailure.Problem) {
        return .found(try judge(answer, now: now), kind)
      } catch {
        problems.append((kind, error))
      }
    }
    // What hinders one place hinders the other: do not ask a server twice that cannot be reached or asks for rest.
    if problems.last?.problem.hindersAll == true { return .failed(failure()) }
    guard let next = remaining.first else { return .failed(failure()) }
    return .ask(request(next))
  }

  private func request(_ kind: MetadataKind) -> HTTPRequest {
    var request = HTTPRequest(.get, issuer.metadataURL(kind), headers: [HTTPField("Accept", "application/json")])
    request.isPublicOnly = isPublicOnly
    return request
  }

  private func judge(_ answer: HTTPAnswer, now: Int64) throws(DiscoveryFailure.Problem) -> ServerMetadata {
    switch answer.status {
    case 200: break
    case 300..<400: throw .redirect(location: answer.headers.value("Location").map { Escaped.serverText($0) })
    case 429, 500...:
      throw .busy(status: answer.status, retryAfterSeconds: RetryAfter.seconds(in: answer.headers, now: now))
    default: throw .absent(status: answer.status)
    }
    guard answer.body.count <= HTTPLimits.bodyBytes else {
      throw .refused(.notMetadata("it is larger than \(HTTPLimits.bodyBytes) bytes"))
    }
    do throws(MetadataRefusal) {
      var metadata = try ServerMetadata(JSONObject(reading: answer.body), expected: issuer)
      metadata.isFromPublicAddress = answer.isFromPublicAddress
      return metadata
    } catch {
      throw .refused(error)
    }
  }

  /// The most telling problem: a refused document before an absent one.
  private func failure() -> DiscoveryFailure {
    let telling =
      problems.first { $0.problem.hindersAll }
      ?? problems.first { if case .refused(.notMetadata) = $0.problem { false } else { $0.problem.isRefusal } }
      ?? problems.last
    guard let telling else { return DiscoveryFailure(issuer: issuer.text, url: first.url, problem: .absent(status: 0)) }
    return DiscoveryFailure(issuer: issuer.text, url: issuer.metadataURL(telling.kind), problem: telling.problem)
  }
}

/// Why no usable metadata was found.
package struct DiscoveryFailure: Error, Sendable, CustomStringConvertible {
  package enum Problem: Error, Sendable, Equatable {
    case unreachable(HTTPFailure)
    case busy(status: Int, retryAfterSeconds: Int?)
    case absent(status: Int)
    /// Metadata is never redirected: the place is derived from the issuer. `location` is escaped.
    case redirect(location: String?)
    case refused(MetadataRefusal)

    package var isTransient: Bool {
      switch self {
      case .unreachable(let failure): failure.reason != .privateAddress
      case .busy: true
      case .absent, .redirect, .refused: false
      }
    }

    /// Whether it is about the server rather than about one place there.
    var hindersAll: Bool {
      switch self {
      case .unreachable, .busy: true
      case .absent, .redirect, .refused: false
      }
    }

    var isRefusal: Bool { if case .refused = self { true } else { false } }

    /// The server's own spelling of `issuer`, where it is the same but for a final slash.
    package func spelling(of issuer: Issuer) -> Issuer? {
      func trimmed(_ text: String) -> Substring { text.hasSuffix("/") ? text.dropLast() : text[...] }
      guard case .refused(.issuerMismatch(_, let shown)) = self, shown != issuer.text,
        trimmed(shown) == trimmed(issuer.text)
      else { return nil }
      return try? Issuer(shown)
    }
  }

  package let issuer: String
  /// The place it is about.
  package let url: String
  package let problem: Problem

  /// True when trying again later may help.
  package var isTransient: Bool { problem.isTransient }

  /// One line, safe to show.
  package var description: String {
    let reason =
      switch problem {
      // It says which proxy.
      case .unreachable(let failure) where failure.reason == .proxy: failure.message
      case .unreachable(let failure): "the server cannot be reached: \(failure.message)"
      case .busy(let status, let wait):
        "the server answered with status \(status)" + (wait.map { " and asks to wait \($0) s" } ?? "")
      case .absent(let status): "the server answers with status \(status)"
      case .redirect(let location): "the server redirects" + (location.map { " to \"\($0)\"" } ?? "")
      case .refused(let refusal): refusal.description
      }
    return "no metadata for \(issuer) at \(url): \(reason)"
  }
}
