import OAuthProtocol

/// Why a request is refused: an OAuth error and the status it goes with (RFC 6749 §5.2).
struct Refusal: Error {
  var status: Int
  var error: String
  var description: String
  var headers: [HTTPField] = []

  init(_ error: String, _ description: String, status: Int = 400, headers: [HTTPField] = []) {
    self.status = status
    self.error = error
    self.description = description
    self.headers = headers
  }

  var response: DevResponse {
    .json(
      .object([("error", .string(error)), ("error_description", .string(description))]), status: status,
      headers: DevResponse.noStore + headers)
  }

  static let overloaded = Refusal(
    "temporarily_unavailable", "the development server is full", status: 503, headers: [HTTPField("Retry-After", "60")])
}
