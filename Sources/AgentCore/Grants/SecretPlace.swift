import AgentWire
import HTTPTerms
import OAuthTerms
import Sealing

/// The server that a client secret or a kept password was given for, which stays when the login that it was used for is
/// gone: another one gets it only when a person agrees.
package struct SecretPlace: Sendable, Equatable, Codable {
  package var issuer: String
  /// Addresses by the keys of an account file. The file leaves a missing one to the issuer.
  package var endpoints: [String: String]
  package var certificateAuthorityDigest: String?
  /// Whose secret it is, to be told from that of another client at the same server. Nil: it was kept before this was noted.
  package var clientID: String?
  /// True: the secret signs (`client_secret_jwt`), and is not sent itself. Nil: it may be.
  package var signs: Bool?

  /// As the file says it when the secret is given.
  package init(_ definition: AccountDefinition) {
    issuer = definition.issuer
    endpoints = definition.writtenEndpoints
    certificateAuthorityDigest = definition.certificateAuthorityDigest
    clientID = definition.clientID
    signs = Self.signs(definition.clientAuthentication)
  }

  /// Where a login has sent it.
  package init(_ binding: DefinitionBinding) {
    issuer = binding.issuer
    endpoints = binding.endpoints
    certificateAuthorityDigest = binding.certificateAuthorityDigest
    clientID = binding.clientID
    signs = Self.signs(binding.clientAuthentication)
  }

  private static func signs(_ method: String?) -> Bool? {
    method == ClientAuthenticationMethod.clientSecretJWT.rawValue ? true : nil
  }

  /// The keys of the endpoints that get the secret.
  private static let receivers = [
    "token_endpoint", "device_authorization_endpoint", "revocation_endpoint", "pushed_authorization_request_endpoint",
  ]

  /// The same, with what the file leaves to the issuer as the first of `bindings` of that issuer has it.
  func completed(by bindings: [DefinitionBinding]) -> SecretPlace {
    let known = bindings.first {
      $0.issuer == issuer && $0.certificateAuthorityDigest == certificateAuthorityDigest
    }
    guard let known else { return self }
    var place = self
    for key in Self.receivers where place.endpoints[key] == nil { place.endpoints[key] = known.endpoints[key] }
    return place
  }

  /// What a person was shown, in one word.
  var digest: String {
    var digest = TextDigest("oauthctl secret place 1")
    for text in [issuer, certificateAuthorityDigest, signs == true ? "signs" : nil]
      + Self.receivers.map({ endpoints[$0] })
    { digest.add(text) }
    return digest.hex
  }

  /// How a person knows it: the issuer, and each endpoint that gets the secret and is of another origin than the issuer.
  var urls: [String] {
    let home = (try? WebURL(issuer))?.origin
    var urls = [issuer]
    for url in Self.receivers.compactMap({ endpoints[$0] }) where !urls.contains(url) {
      if home == nil || (try? WebURL(url))?.origin != home { urls.append(url) }
    }
    return urls
  }

  /// For messages: its token endpoint, or the issuer that knows it.
  var words: String { endpoints["token_endpoint"] ?? issuer }

  /// Whether a request of a login with `binding` to `endpoint`, its endpoint `key`, goes where the secret belongs.
  func covers(_ key: String, _ endpoint: String?, of binding: DefinitionBinding) -> Bool {
    issuer == binding.issuer && certificateAuthorityDigest == binding.certificateAuthorityDigest
      && !(signs == true && binding.method?.sendsSecret == true)
      && (endpoints[key].map { $0 == endpoint } ?? isAmongKnown(endpoint))
  }

  /// Whether the issuer may name `endpoint` by itself: its own metadata decide where the secret goes first, and later ones
  /// only among the origins that have had it.
  private func isAmongKnown(_ endpoint: String?) -> Bool {
    guard let endpoint, endpoints["token_endpoint"] != nil else { return true }
    let known = ([issuer] + Self.receivers.compactMap { endpoints[$0] }).compactMap { try? WebURL($0).origin }
    return (try? WebURL(endpoint)).map { known.contains($0.origin) } ?? false
  }

  /// How a login of `definition` with `next` would send it elsewhere.
  func differences(to next: DefinitionBinding, of definition: AccountDefinition) -> [DefinitionDifference] {
    var found: [DefinitionDifference] = []
    func compare(_ key: String, _ was: String?, _ now: String?) {
      if let difference = DefinitionDifference(key, from: was, to: now) { found.append(difference) }
    }
    compare("issuer", issuer, next.issuer)
    for key in Self.receivers {
      guard let now = next.endpoints[key] else { continue }
      if endpoints[key] != nil || definition.writtenEndpoints[key] != nil || !isAmongKnown(now) {
        compare(key, endpoints[key], now)
      }
    }
    compare(DefinitionBinding.authorityContent, certificateAuthorityDigest, next.certificateAuthorityDigest)
    if signs == true, next.method?.sendsSecret == true {
      compare("client_authentication", ClientAuthenticationMethod.clientSecretJWT.rawValue, next.clientAuthentication)
    }
    return found
  }

  private enum CodingKeys: String, CodingKey {
    case issuer, endpoints, signs
    case certificateAuthorityDigest = "ca_digest"
    case clientID = "client_id"
  }
}

/// A secret goes only to the server it was given for: every request that carries one takes it from here.
extension AccountRecord {
  /// Where a secret belongs that is given while the file is `definition`.
  func place(_ definition: AccountDefinition) -> SecretPlace {
    SecretPlace(definition).completed(by: bindings)
  }

  /// What logins are and were bound to, the last one first.
  private var bindings: [DefinitionBinding] {
    [grant?.binding, formerBinding].compactMap(\.self)
      + revocations.reversed().filter { $0.clientURI == nil }.map(\.binding)
  }

  /// Records from before the places were kept have none: there the secret belongs where the login is.
  var clientSecretBelongs: SecretPlace? { clientSecretPlace ?? bindings.first.map { SecretPlace($0) } }
  private var passwordBelongs: SecretPlace? { passwordPlace ?? bindings.first.map { SecretPlace($0) } }

  /// The client secret for the token endpoint of `binding`; nil: no secret is kept that belongs there.
  func clientSecret(for binding: DefinitionBinding) -> StoredSecret? {
    clientSecretBelongs?.covers("token_endpoint", binding.tokenEndpoint, of: binding) == true ? clientSecret : nil
  }

  /// The same for the password.
  func password(for binding: DefinitionBinding) -> StoredSecret? {
    passwordBelongs?.covers("token_endpoint", binding.tokenEndpoint, of: binding) == true ? password : nil
  }

  /// For the revocation endpoint of a login that is over: what is kept now where it belongs there and to that client, else what
  /// was kept then.
  func clientSecret(for revocation: RevocationRecord) -> StoredSecret? {
    let binding = revocation.binding
    let place = clientSecretBelongs
    let isOfClient = place?.clientID.map { $0 == binding.clientID } ?? true
    let fits = isOfClient && place?.covers("revocation_endpoint", binding.revocationEndpoint, of: binding) == true
    return (fits ? clientSecret : nil) ?? revocation.clientSecret
  }

  /// What waits to be told to the server that the new client secret is for goes with it.
  mutating func tellRevocationsOfSecret() {
    for index in revocations.indices where revocations[index].binding.sendsClientSecret {
      revocations[index].clientSecret = clientSecret(for: revocations[index])
    }
  }

  /// What a person has to agree to before a login of `definition` uses `next`: how it differs from what the login before
  /// is bound to, a logout since or not, and from where the kept secrets belong.
  func loginDifferences(to next: DefinitionBinding, of definition: AccountDefinition) -> [DefinitionDifference] {
    var found = (grant?.binding ?? formerBinding)?.loginDifferences(to: next, of: definition) ?? []
    found += formerKind?.differences(to: definition.grant) ?? []
    if formerKind?.isUnattended == false, let request = next.request {
      // From then on nobody is asked, so everything that it will ask for counts as new.
      found += UnattendedRequest.nothing.differences(from: request)
    }
    if clientSecret != nil, let clientSecretPlace {
      found.append(clientSecretPlace.differences(to: next, of: definition), of: .clientSecret)
    }
    if password != nil, let passwordPlace {
      found.append(passwordPlace.differences(to: next, of: definition), of: .password)
    }
    return found
  }

  /// The binding of the login, or of the one that a logout has ended.
  private var formerKind: GrantKind? {
    grant?.kind ?? formerBinding.map { $0.request == nil ? .authorizationCode : .clientCredentials }
  }

  /// A person has agreed that the login moves to `binding`: secrets that were given for its server go with it. One that was
  /// given for another stays there.
  mutating func move(to binding: DefinitionBinding) {
    guard let before = grant?.binding else { return }
    let (hasSecret, hasPassword) = (clientSecret(for: before) != nil, password(for: before) != nil)
    grant?.binding = binding
    let place = SecretPlace(binding)
    if hasSecret { clientSecretPlace = place }
    if hasPassword { passwordPlace = place }
  }

  /// Secrets that a login sends belong where the issuer's metadata have them sent first, however it ends: other metadata
  /// later get them only when a person agrees.
  mutating func place(_ used: UsedSecrets, by binding: DefinitionBinding) {
    if let secret = clientSecret?.secret, used.isClientSecret(secret) {
      clientSecretPlace = clientSecretPlace?.completed(by: [binding])
    }
    if let secret = password?.secret, secret == used.password {
      passwordPlace = passwordPlace?.completed(by: [binding])
    }
  }

  /// Secrets that a login has used belong to its server: one that was given meanwhile stays where it was given for.
  mutating func bindSecrets(to binding: DefinitionBinding, used: UsedSecrets) {
    let place = SecretPlace(binding)
    if used.bringsClientSecret { clientSecret = used.clientSecret.map { StoredSecret($0) } }
    if used.bringsPassword { password = used.password.map { StoredSecret($0) } }
    if let secret = clientSecret?.secret, used.isClientSecret(secret) { clientSecretPlace = place }
    if let secret = password?.secret, secret == used.password { passwordPlace = place }
  }
}

extension [DefinitionDifference] {
  /// Adds from where a secret goes elsewhere. What moves as the login itself does is listed once; what comes from a third
  /// place is listed as the secret's, beside that.
  mutating func append(_ differences: [DefinitionDifference], of kind: SecretKind) {
    for difference in differences where !contains(difference) {
      var told = difference
      if contains(where: { $0.key == told.key }) {
        told.key += kind == .password ? " of the password" : " of the client secret"
      }
      if !contains(told) { append(told) }
    }
  }
}
