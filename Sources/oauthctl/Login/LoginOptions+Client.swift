import OAuthTerms

/// How the client proves itself.
extension LoginOptions {
  static func clientAuthentication(_ typed: String?) throws(CommandError) -> ClientAuthenticationMethod? {
    try named("--client-authentication", typed)
  }

  static func assertionAudience(_ typed: String?) throws(CommandError) -> AssertionAudience? {
    try named("--assertion-audience", typed)
  }

  /// The name of a list that was given to `flag`; nil: none was.
  private static func named<Name: TypedName>(_ flag: String, _ typed: String?) throws(CommandError) -> Name? {
    guard let typed else { return nil }
    guard let name = Name(typed: typed) else { throw .usage("\(flag) \(typed): it is \(Name.choice)") }
    return name
  }
}
