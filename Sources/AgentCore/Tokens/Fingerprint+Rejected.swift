import AgentWire
import Sealing

extension Fingerprint {
  /// Of the token that a request names as rejected. Throws `bad_request` unless it names one, by its fingerprint or whole.
  init(rejected: RejectedToken) throws(AgentFailure) {
    switch (rejected.fingerprint, rejected.token) {
    case (let text?, nil):
      guard let fingerprint = Fingerprint(text) else {
        throw AgentFailure(.badRequest, "rejected.fingerprint is not sha256: and 32 hex digits")
      }
      self = fingerprint
    case (nil, let token?) where (1...WireLimits.tokenBytes).contains(token.utf8.count):
      self = Fingerprint(of: Secret(token))
    default:
      throw AgentFailure(.badRequest, "rejected names either a fingerprint or a token")
    }
  }
}
