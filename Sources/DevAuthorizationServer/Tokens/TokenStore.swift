/// All state that a login leaves behind. Pure: every call gets the time.
struct TokenStore {
  /// Most entries of each kind; beyond it the server asks to come back later.
  static let limit = 20_000

  var grants: [Int: Grant] = [:]
  var accessTokens: [String: AccessToken] = [:]
  var refreshTokens: [String: RefreshToken] = [:]
  var codes: [String: AuthorizationCode] = [:]
  /// By an unguessable id that the login form carries.
  var pending: [String: AuthorizationRequest] = [:]
  /// By device code.
  var devices: [String: DeviceAuthorization] = [:]
  private var lastGrant = 0

  mutating func addGrant(_ grant: Grant) -> Int {
    lastGrant += 1
    grants[lastGrant] = grant
    return lastGrant
  }

  /// The token when it is good now.
  func access(_ token: String, at now: Double) -> (token: AccessToken, grant: Grant)? {
    guard let access = accessTokens[token], !access.isRevoked, now < access.expiresAt,
      let grant = grants[access.grant], !grant.isRevoked
    else { return nil }
    return (access, grant)
  }

  /// The refresh token when it is good now and was not used up.
  func refresh(_ token: String, at now: Double) -> (token: RefreshToken, grant: Grant)? {
    guard let refresh = refreshTokens[token], refresh.usedAt == nil, now < refresh.expiresAt,
      let grant = grants[refresh.grant], !grant.isRevoked
    else { return nil }
    return (refresh, grant)
  }

  mutating func revokeFamily(_ grant: Int) { grants[grant]?.isRevoked = true }

  /// Revokes the access tokens of `grant`, or of everybody.
  mutating func revokeAccessTokens(of grant: Int? = nil) {
    for (token, access) in accessTokens where grant == nil || access.grant == grant {
      accessTokens[token]?.isRevoked = true
    }
  }

  mutating func revokeAllFamilies() {
    for id in grants.keys { revokeFamily(id) }
  }

  /// False when there is no room even without what has expired.
  mutating func makeRoom(at now: Double) -> Bool {
    let counts = [
      grants.count, accessTokens.count, refreshTokens.count, codes.count, pending.count, devices.count,
    ]
    if counts.allSatisfy({ $0 < TokenStore.limit }) { return true }
    accessTokens = accessTokens.filter { now < $0.value.expiresAt }
    refreshTokens = refreshTokens.filter { now < $0.value.expiresAt }
    // A code is kept for a while after its use, to notice a replay.
    codes = codes.filter { now < $0.value.expiresAt + 600 }
    pending = pending.filter { now < $0.value.expiresAt }
    devices = devices.filter { now < $0.value.expiresAt }
    let alive = Set(accessTokens.values.map(\.grant) + refreshTokens.values.map(\.grant))
    grants = grants.filter { alive.contains($0.key) }
    return max(
      grants.count, accessTokens.count, refreshTokens.count, max(codes.count, pending.count, devices.count))
      < TokenStore.limit
  }
}
