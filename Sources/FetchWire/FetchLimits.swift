/// Hard limits of the pipe between the agent and `oauthd-fetch`. Whoever receives checks them before it reserves memory.
package enum FetchLimits {
  /// Version of the frame contents. The helper may have been replaced by an upgrade while an older agent runs.
  package static let version: UInt8 = 5
  /// Bytes before every payload: one of kind, four of length.
  package static let frameHeaderBytes = 5
  /// Largest authority: the PEM text of a `ca_file`.
  package static let authorityBytes = 4 << 20
  /// Largest certificate of a client with its key, as PEM text: a key of 8 KiB and certificates of 12 KiB, in base 64.
  package static let certificateBytes = 32 << 10
  /// Largest request head: method, URL, header fields, route.
  package static let requestHeadBytes = 64 << 10
  /// Largest request body: a refresh token of 32 KiB, every byte escaped, and the rest of the form.
  package static let requestBodyBytes = 256 << 10
  /// Largest sum of answer header bytes, as the server sent them.
  package static let answerHeaderBytes = 64 << 10
  /// Largest answer head frame: the header bytes, plus status, network, body length and number of fields.
  package static let answerHeadBytes = answerHeaderBytes + 9
  /// Largest answer body: metadata and token answers have some KiB.
  package static let answerBodyBytes = 1 << 20
  /// Largest number of header fields, either way.
  package static let headerFields = 256
  /// Longest URL or proxy, in bytes: RFC 9110 §4.1 wants 8,000 to be possible.
  package static let textBytes = 8 << 10
  /// Longest failure text, in characters: three lines of a terminal.
  package static let failureTextCharacters = 240
  /// Largest failure frame: reason, length and text, which may be longer in bytes than in characters.
  package static let failureBytes = 4 + failureTextCharacters
  /// Range of both timeouts, in milliseconds: up to ten minutes.
  package static let timeoutMilliseconds = 1...600_000

  /// Room for everything one request can be.
  package static let requestStreamBytes =
    4 * frameHeaderBytes + authorityBytes + certificateBytes + requestHeadBytes + requestBodyBytes
  /// Room for everything the helper can say about one request.
  package static let answerStreamBytes = 4 * frameHeaderBytes + failureBytes + answerHeadBytes + answerBodyBytes
}
