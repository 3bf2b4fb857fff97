// DevAuthorizationServer
