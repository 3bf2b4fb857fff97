/// `login.confirm`: a person agrees that the login takes the place of somebody else's.
package struct LoginConfirm: RequestParameters, Equatable {
  package typealias Answer = LoginProgress
  package static let method = Method.loginConfirm

  package var loginID: String

  package init(loginID: String) { self.loginID = loginID }

  package typealias Keys = CodingKeys
  package enum CodingKeys: String, CodingKey, CaseIterable { case loginID = "login_id" }
}

/// A login that ends as another person than the one before it, as the server names them; both fit to be shown.
package struct OtherUser: Codable, Sendable, Equatable {
  package var was: String
  package var now: String

  package init(was: String, now: String) {
    self.was = was
    self.now = now
  }
}
