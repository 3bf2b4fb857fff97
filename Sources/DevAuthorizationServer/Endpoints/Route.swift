/// Which part of the server a path belongs to. Everything of the authorization server lies below the issuer's path,
/// but for the RFC 8414 document, whose well-known part comes first (§3.1).
enum Route: Equatable {
  enum Control: Equatable { case log, script }

  case openIDMetadata, oauthMetadata, keys
  case authorize, login, consent
  case token, revoke, introspect, userinfo
  case deviceAuthorization, devicePage, deviceConsent
  /// `/api/NAME`
  case resource(String)
  case control(Control)

  init?(path: String, issuerPath: String) {
    switch path {
    case "/.well-known/oauth-authorization-server" + issuerPath: self = .oauthMetadata
    case "/_dev/log": self = .control(.log)
    case "/_dev/script": self = .control(.script)
    case _ where path.hasPrefix("/api/"): self = .resource(String(path.dropFirst(5)))
    case _ where path.hasPrefix(issuerPath + "/"):
      switch path.dropFirst(issuerPath.count) {
      case "/.well-known/openid-configuration": self = .openIDMetadata
      case "/keys": self = .keys
      case "/authorize": self = .authorize
      case "/authorize/login": self = .login
      case "/authorize/consent": self = .consent
      case "/token": self = .token
      case "/device_authorization": self = .deviceAuthorization
      case "/device": self = .devicePage
      case "/device/consent": self = .deviceConsent
      case "/revoke": self = .revoke
      case "/introspect": self = .introspect
      case "/userinfo": self = .userinfo
      default: return nil
      }
    default: return nil
    }
  }

  var endpoint: DevEndpoint {
    switch self {
    case .openIDMetadata, .oauthMetadata, .keys: .metadata
    case .authorize, .login, .consent: .authorize
    case .token: .token
    case .deviceAuthorization: .deviceAuthorization
    case .devicePage, .deviceConsent: .device
    case .revoke: .revoke
    case .introspect: .introspect
    case .userinfo: .userinfo
    case .resource: .resource
    case .control: .other
    }
  }
}
