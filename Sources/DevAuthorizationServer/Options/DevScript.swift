package import OAuthProtocol

/// What the next request to an endpoint gets instead of the usual answer; taken in order, each once.
package struct DevScript: Sendable {
  package enum Action: Sendable {
    /// This answer; the server does nothing else.
    case answer(status: Int, headers: [HTTPField] = [], body: String = "")
    /// The server acts as usual (a refresh token is used up), but this answer leaves.
    case actThenAnswer(status: Int, headers: [HTTPField] = [], body: String = "")
    /// The request is read, nothing is done, the connection closes.
    case drop
    /// The server acts as usual, then the connection closes without an answer.
    case actThenDrop
    /// The server acts; the head and so many bytes of its answer's body leave, then the connection closes.
    case actThenCut(afterBytes: Int)
    /// As if nobody listened. Over a real connection: the same as `drop`.
    case refuse
    /// The usual answer: leaves a request out of the script.
    case pass
  }

  package var action: Action
  /// Only requests with this `grant_type` take it; nil: any.
  package var grantType: String?

  package init(_ action: Action, grantType: String? = nil) {
    self.action = action
    self.grantType = grantType
  }
}
