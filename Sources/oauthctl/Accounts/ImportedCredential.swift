import AgentWire
import FoundationEssentials

/// A login that another program has made, as it writes it down: one JSON object with the names of RFC 6749, of oidc-agent
/// (`oidc-gen --print`), of Google's libraries and gcloud (`application_default_credentials.json`), or of Go's
/// `oauth2.Token` (rclone and others). What is not needed is left alone, an ID token too: only one that
/// comes straight from the token endpoint is believed. Or it is what `pizauth dump` prints.
struct ImportedCredential: Equatable {
  var refreshToken: String?
  var accessToken: String?
  /// Unix seconds; nil: not told.
  var expiresAt: Int?
  var scope: [String]?
  var clientID: String?
  var clientSecret: String?
  var issuer: String?
  var tokenEndpoint: String?

  /// Longest text that is read: three tokens of 32 KiB, every byte escaped as two.
  static let limitBytes = 256 << 10

  /// - Throws: `CommandError.usage` for what is no login. The text is secret: no more of it is repeated than the names of
  ///   pizauth's accounts.
  init(reading bytes: [UInt8], for account: String) throws(CommandError) {
    guard let members = try? JSONDecoder().decode([String: Value].self, from: Data(bytes)) else {
      self = try Self(dumpedByPizauth: bytes, for: account)
      return
    }
    func text(_ names: String...) -> String? {
      names.lazy.compactMap { if case .text(let text)? = members[$0], !text.isEmpty { text } else { nil } }.first
    }
    if let kind = text("type"), kind.hasSuffix("service_account") || kind == "external_account" {
      throw .usage(
        "that is the key of a machine (\(kind)), not the login of a person",
        next: kind.hasSuffix("service_account")
          ? "make an account for it: oauthctl login NAME ISSUER --client-id EMAIL --grant jwt_bearer, then: oauthctl key import NAME < FILE"
          : "log in as a person instead: oauthctl login")
    }
    if let kind = text("token_type"), kind.lowercased() != "bearer" {
      throw .usage("its access token is of another type than Bearer, which cannot be handed out")
    }
    refreshToken = text("refresh_token")
    accessToken = text("access_token", "token")
    guard refreshToken != nil || accessToken != nil else {
      if members["installed"] != nil || members["web"] != nil {
        throw .usage(
          "that is a client, not the login of a person",
          next: "log in with it: oauthctl login google --client-id ID   # the client_id that stands in it")
      }
      let isThere = ["refresh_token", "access_token", "token"].first { members[$0] != nil }
      throw .usage(
        isThere.map { "its \($0) is empty or no text" } ?? "that holds neither a refresh_token nor an access_token",
        next: .advice(Self.wanted))
    }
    clientID = text("client_id")
    clientSecret = text("client_secret")
    issuer = text("issuer", "issuer_url")
    tokenEndpoint = text("token_endpoint", "token_uri", "token_url")
    nameGoogle(text("type") == "authorized_user")
    scope = ["scope", "scopes"].lazy.compactMap { members[$0]?.words }.first { !$0.isEmpty }
    guard accessToken != nil else { return }
    guard let end = Self.end(members) else {
      // One of unknown age is worth nothing where there can be another.
      if refreshToken != nil { accessToken = nil }
      return
    }
    expiresAt = end
  }

  /// Google's own files name no issuer, nor does pizauth. `isGoogles`: another sign than the token endpoint says so.
  mutating func nameGoogle(_ isGoogles: Bool) {
    guard issuer == nil, isGoogles || tokenEndpoint == Self.googleTokenEndpoint else { return }
    issuer = "https://accounts.google.com"
    // Older files name one that Google has moved.
    if tokenEndpoint != Self.googleTokenEndpoint { tokenEndpoint = nil }
  }

  /// What can be imported.
  static let wanted = "give one with refresh_token, client_id and issuer, as oidc-gen --print NAME prints it"
  private static let googleTokenEndpoint = "https://oauth2.googleapis.com/token"

  /// When the access token ends; nil: that cannot be told.
  private static func end(_ members: [String: Value]) -> Int? {
    for name in ["expires_at", "expiry", "expires"] {
      switch members[name] {
      case .number(let seconds)? where (0...253_402_300_799).contains(seconds): return Int(seconds)
      // Go writes year 1 for a token that does not end, Python no zone for UTC.
      case .text(let text)?:
        guard !text.dropFirst(19).contains(where: { $0 == "+" || $0 == "-" }),
          let date = try? Date(String(text.prefix(19)) + "Z", strategy: .iso8601), date.timeIntervalSince1970 >= 0
        else { break }
        return Int(date.timeIntervalSince1970)
      default: break
      }
    }
    return nil
  }

  /// As much of JSON as matters here.
  private enum Value: Decodable {
    case text(String)
    case number(Double)
    case list([String])
    case other

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let text = try? container.decode(String.self) {
        self = .text(text)
      } else if let number = try? container.decode(Double.self) {
        self = .number(number)
      } else if let list = try? container.decode([String].self) {
        self = .list(list)
      } else {
        self = .other
      }
    }

    var words: [String]? {
      switch self {
      case .text(let text): text.split(separator: " ").map(String.init)
      case .list(let list): list
      case .number, .other: nil
      }
    }
  }
}
