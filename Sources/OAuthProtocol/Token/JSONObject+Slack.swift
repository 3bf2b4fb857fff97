/// Slack's answers: `ok`, a `token_type` that says whose token it is, and at `oauth.v2.access` the user's token in an object
/// of its own.
extension JSONObject {
  /// Whether a token of this `token_type` is one of Slack's, which go into requests as Bearer ones do.
  func isSlackToken(ofType type: String) -> Bool {
    guard case .bool(true) = value("ok") else { return false }
    return ["user", "bot"].contains(type)
  }

  /// With the members of `authed_user` as if they stood beside it, where the token is in there.
  var withSlackUser: JSONObject {
    guard value("access_token") == nil, value("error") == nil, case .bool(true) = value("ok"),
      case .object(let user) = value("authed_user"), user.contains(where: { $0.name == "access_token" })
    else { return self }
    let names = Set(user.map(\.name))
    return JSONObject(members: members.filter { !names.contains($0.name) } + user, problem: problem)
  }
}
