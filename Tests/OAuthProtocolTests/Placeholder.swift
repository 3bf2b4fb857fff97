// OAuthProtocolTests
