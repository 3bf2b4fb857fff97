// DevAuthorizationServerTests
