import FoundationEssentials
import HTTPTerms
import OAuthProtocol

/// `/_dev/log` and `/_dev/script`: for tests and people on this machine, never for a web page.
extension DevAuthorizationServer {
  mutating func respond(_ control: Route.Control, to request: DevRequest, at now: Double) -> DevResponse {
    guard isLocal(request) else { return .text(403, "only for programs on this machine") }
    switch control {
    case .log:
      guard request.method == "GET" else { return .methodNotAllowed("GET") }
      return .json(
        .object([("requests", .number(requestCount)), ("entries", .array(log.map(\.json)))]))
    case .script:
      guard request.method == "POST" else { return .methodNotAllowed("POST") }
      guard request.headers.value("Content-Type")?.lowercased().hasPrefix("application/json") == true else {
        return .text(415, "send application/json")
      }
      return run(request.body, at: now)
    }
  }

  /// All of it or nothing, as far as its form goes; a device code that nobody waits with is reported as `false`.
  private mutating func run(_ body: [UInt8], at now: Double) -> DevResponse {
    guard body.count <= DevAuthorizationServer.formLimit else { return .text(413, "too large") }
    do {
      let control = try JSONDecoder().decode(DevControl.self, from: Data(body))
      var isDone = true
      for change in control.changes where !change(&self, now) { isDone = false }
      return .json(.object([("done", .bool(isDone))]), status: isDone ? 200 : 404)
    } catch let problem as DevControlProblem {
      return refuse(problem.message)
    } catch let error as DecodingError {
      return refuse(ControlText.describe(error))
    } catch {
      return refuse("the body cannot be read")
    }
  }

  private func refuse(_ message: String) -> DevResponse {
    .json(.object([("done", .bool(false)), ("problem", .string(message))]), status: 400)
  }

  /// The name of a loopback address in Host (against DNS rebinding), and no Origin (browsers send it).
  private func isLocal(_ request: DevRequest) -> Bool {
    guard request.headers.value("Origin") == nil else { return false }
    guard let host = request.headers.value("Host") else { return true }
    return (try? Origin(scheme: .http, authority: host[...])) != nil
  }
}

private enum ControlText {
  static func describe(_ error: DecodingError) -> String {
    switch error {
    case .keyNotFound(let key, _): return "\(key.stringValue) is missing"
    case .typeMismatch(_, let context), .valueNotFound(_, let context): return "\(path(context)): wrong type"
    case .dataCorrupted(let context):
      return context.codingPath.isEmpty ? "not JSON" : "\(path(context)): unknown value"
    @unknown default: return "the body cannot be read"
    }
  }

  private static func path(_ context: DecodingError.Context) -> String {
    context.codingPath.map(\.stringValue).joined(separator: ".")
  }
}
