import Sealing

/// The links that browsers are started with: each leads to the authorization URL, once.
///
/// A program's arguments are everybody's to read, and the authorization URL has `state` and the PKCE challenge in it. A
/// link leads nobody there but our own user, whose connections alone the redirect listener serves.
struct LoginLinks {
  /// Beside the redirect path; a redirect path below it is still the redirect.
  static let folder = "/login/"
  /// Callers that share a login have a link each.
  static let limit = LoginSession.rememberedRequests

  /// `http://127.0.0.1:8914`, without a slash at the end.
  let origin: String
  private var paths: [String] = []

  init(origin: String) { self.origin = origin }

  /// A new link; the oldest ends when there are too many.
  mutating func make(random: any RandomSource) -> String {
    let path = Self.folder + Base64URL.encode(random.bytes(18))
    if paths.count >= Self.limit { paths.removeFirst() }
    paths.append(path)
    return origin + path
  }

  /// Whether `target` is a link that was not followed yet. It is followed now.
  mutating func follow(_ target: String) -> Bool {
    guard let place = paths.firstIndex(where: { constantTimeEquals(Array($0.utf8), Array(target.utf8)) }) else {
      return false
    }
    paths.remove(at: place)
    return true
  }
}
