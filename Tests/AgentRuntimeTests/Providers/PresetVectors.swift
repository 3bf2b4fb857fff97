/// What each preset asks for: the login address of its account, with its questions' examples for answers, the client id
/// `client`, any port 1, the state `s` and the challenge `c`. Written from the providers' documents, beside the presets.
enum PresetVectors {
  private static let tail = "&state=s&code_challenge=c&code_challenge_method=S256"
  private static let anyPort = "response_type=code&client_id=client&redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2Fcallback"
  private static let fixedPort =
    "response_type=code&client_id=client&redirect_uri=http%3A%2F%2Flocalhost%3A17171%2Fcallback"
  private static let fixedAddress =
    "response_type=code&client_id=client&redirect_uri=http%3A%2F%2F127.0.0.1%3A17171%2Fcallback"

  /// The authorization endpoints that discovery finds, as the providers publish them.
  static let discovered: [String: String] = [
    "auth0": "https://acme.eu.auth0.com/authorize", "bluesky": "https://pds.example.com/oauth/authorize",
    "discord": "https://discord.com/api/oauth2/authorize",
    "egi": "https://aai.egi.eu/auth/realms/egi/protocol/openid-connect/auth",
    "gitlab": "https://gitlab.example.com/oauth/authorize",
    "google": "https://accounts.google.com/o/oauth2/v2/auth",
    "huggingface": "https://huggingface.co/oauth/authorize", "indigo-iam": "https://iam.example.org/authorize",
    "keycloak": "https://sso.example.com/realms/main/protocol/openid-connect/auth",
    "okta": "https://acme.okta.com/oauth2/v1/authorize",
    "salesforce": "https://acme.my.salesforce.com/services/oauth2/authorize",
  ]

  static let logins: [String: String] = [
    "atlassian": "https://auth.atlassian.com/authorize?\(fixedPort)&scope=read%3Ame%20read%3Ajira-work%20offline_access"
      + "\(tail)&audience=api.atlassian.com&prompt=consent",
    "auth0": "https://acme.eu.auth0.com/authorize?\(fixedAddress)&scope=openid%20profile%20offline_access\(tail)",
    "bitbucket": "https://bitbucket.org/site/oauth2/authorize?\(fixedPort)\(tail)",
    "bluesky": "https://pds.example.com/oauth/authorize?\(anyPort)&scope=atproto%20transition%3Ageneric\(tail)",
    "codeberg": "https://codeberg.org/login/oauth/authorize?\(anyPort)\(tail)",
    "discord": "https://discord.com/api/oauth2/authorize?\(fixedPort)&scope=identify\(tail)",
    "dropbox": "https://www.dropbox.com/oauth2/authorize?\(fixedPort)\(tail)&token_access_type=offline",
    "egi": "https://aai.egi.eu/auth/realms/egi/protocol/openid-connect/auth?\(fixedPort)"
      + "&scope=openid%20profile%20email%20offline_access\(tail)",
    "entra": "https://login.microsoftonline.com/contoso.onmicrosoft.com/oauth2/v2.0/authorize?"
      + "response_type=code&client_id=client&redirect_uri=http%3A%2F%2Flocalhost%3A1%2Fcallback"
      + "&scope=https%3A%2F%2Fgraph.microsoft.com%2FUser.Read%20offline_access\(tail)",
    "fastmail": "https://api.fastmail.com/oauth/authorize?\(anyPort)&scope="
      + "https%3A%2F%2Fwww.fastmail.com%2Fdev%2Fprotocol-imap%20https%3A%2F%2Fwww.fastmail.com%2Fdev%2Fprotocol-smtp%20"
      + "offline_access\(tail)",
    "figma": "https://www.figma.com/oauth?\(fixedPort)&scope=current_user%3Aread%20file_content%3Aread\(tail)",
    "forgejo": "https://forgejo.example.com/login/oauth/authorize?\(anyPort)\(tail)",
    "gitea": "https://gitea.example.com/login/oauth/authorize?\(anyPort)\(tail)",
    "github": "https://github.example.com/login/oauth/authorize?\(anyPort)&scope=repo\(tail)",
    "github-app": "https://github.example.com/login/oauth/authorize?\(anyPort)\(tail)",
    "gitlab": "https://gitlab.example.com/oauth/authorize?\(anyPort)&scope=read_api%20write_repository\(tail)",
    "google": "https://accounts.google.com/o/oauth2/v2/auth?\(anyPort)&scope=openid%20email\(tail)"
      + "&access_type=offline&prompt=consent",
    "huggingface": "https://huggingface.co/oauth/authorize?\(fixedPort)&scope=openid%20profile%20read-repos\(tail)",
    "indigo-iam": "https://iam.example.org/authorize?\(fixedPort)&scope=openid%20profile%20offline_access\(tail)",
    "keycloak": "https://sso.example.com/realms/main/protocol/openid-connect/auth?\(anyPort)&scope=openid\(tail)",
    "linear": "https://linear.app/oauth/authorize?\(fixedPort)&scope=read\(tail)",
    "microsoft": "https://login.microsoftonline.com/consumers/oauth2/v2.0/authorize?"
      + "response_type=code&client_id=client&redirect_uri=http%3A%2F%2Flocalhost%3A1%2Fcallback"
      + "&scope=https%3A%2F%2Fgraph.microsoft.com%2FUser.Read%20offline_access\(tail)",
    "notion": "https://api.notion.com/v1/oauth/authorize?\(fixedPort)\(tail)&owner=user",
    "okta": "https://acme.okta.com/oauth2/v1/authorize?\(fixedAddress)&scope=openid%20profile%20offline_access\(tail)",
    "reddit": "https://www.reddit.com/api/v1/authorize?\(fixedPort)&scope=identity%20read\(tail)&duration=permanent",
    "salesforce":
      "https://acme.my.salesforce.com/services/oauth2/authorize?\(fixedPort)&scope=api%20refresh_token\(tail)",
    "slack": "https://slack.com/oauth/v2_user/authorize?\(fixedPort)&scope=channels%3Aread%20users%3Aread\(tail)",
    "spotify": "https://accounts.spotify.com/authorize?\(anyPort)\(tail)",
    "x": "https://x.com/i/oauth2/authorize?\(fixedAddress)&scope=tweet.read%20users.read%20offline.access\(tail)",
    "yahoo": "https://api.login.yahoo.com/oauth2/request_auth?response_type=code&client_id=client"
      + "&redirect_uri=https%3A%2F%2F127.0.0.1%2Fcallback&scope=openid\(tail)",
    "zoom": "https://zoom.us/oauth/authorize?\(anyPort)\(tail)",
  ]
}
