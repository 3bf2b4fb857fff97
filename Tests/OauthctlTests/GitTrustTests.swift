import Testing

@testable import oauthctl

@Suite("Whom git believes at an address")
struct GitTrustTests {
  private static let right = "http.sslcainfo\n/copies/right\0http.sslcapath\n/dev/null\0"

  private func fault(_ list: String, digest: String? = "d", isOwn: Bool = true) -> GitTrust.Fault? {
    GitTrust(in: list).fault(digest: digest, isOwn: isOwn) { file in
      file.hasPrefix("/copies/") ? .some(["/copies/right": "d", "/copies/other": "o"][file]) : nil
    } isNamed: {
      $0 == "/mine"
    }
  }

  @Test("The copy of the login's own authority alone is right, or a file of the user's own")
  func right() {
    #expect(fault(Self.right) == nil && fault("http.sslcainfo\n/mine.pem\0") == nil)
    #expect(fault(Self.right.replacing("/dev/null", with: "/mine")) == nil)
    #expect(fault("http.proxy\nhttp://p\0\(Self.right)http.cookiefile\0") == nil)
  }

  @Test(
    "Where nothing names it, or nothing it alone, git believes the system's authorities",
    arguments: [
      "", "http.sslcainfo\n/copies/right\0", "http.sslcainfo\n\0", "http.sslcainfo\0", "http.sslcapath\n/dev/null\0",
      "http.sslcainfo\n/copies/right\0http.sslcapath\n/etc/ssl/certs\0",
    ])
  func system(list: String) {
    #expect(fault(list) == .systemAuthorities)
  }

  @Test("A copy is right for no other login, and for no other server of its own")
  func other() {
    for file in ["/copies/other", "/copies/gone"] {
      let list = Self.right.replacing("/copies/right", with: file)
      for (digest, isOwn) in [("d", true), ("d", false), (nil, false)] as [(String?, Bool)] {
        #expect(fault(list, digest: digest, isOwn: isOwn) == .otherAuthority)
      }
    }
    #expect(fault(Self.right, isOwn: false) == .otherAuthority)
    #expect(fault(Self.right, digest: nil, isOwn: false) == .otherAuthority)
    for list in ["", "http.sslcainfo\n/mine.pem\0", "http.sslverify\nfalse\0"] {
      #expect(fault(list, isOwn: false) == nil && fault(list, digest: nil, isOwn: false) == nil)
    }
  }

  @Test(
    "Whatever git may take for false has it check nobody",
    arguments: [
      ("false", false), ("no", false), ("0", false), ("00", false), ("0x0", false), ("-0", false), ("", false),
      ("True", true), ("on", true), ("1", true), ("2", true),
    ])
  func unchecked(value: String, isChecked: Bool) {
    #expect(fault("\(Self.right)http.sslverify\n\(value)\0") == (isChecked ? nil : .unchecked))
    #expect(fault("\(Self.right)http.sslverify\0") == nil, "without a value it is true")
  }
}
