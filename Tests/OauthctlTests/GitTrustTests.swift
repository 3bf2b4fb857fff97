import Testing

@testable import oauthctl

@Suite("Whom git believes at a server")
struct GitTrustTests {
  private static let own = "http.https://h:1.sslcainfo", folder = "http.https://h:1.sslcapath"
  private static let right = "\(own)\n/copies/right\0\(folder)\n/dev/null\0"

  private func fault(
    _ list: String, at url: String = "https://h:1/team/one.git", digest: String? = "d", isOwn: Bool = true
  ) -> GitTrust.Fault? {
    GitTrust.fault(GitTrust.settings(in: list), at: url, digest: digest, isOwn: isOwn) { file in
      file.hasPrefix("/copies/") ? .some(["/copies/right": "d", "/copies/other": "o"][file]) : nil
    }
  }

  @Test("The copy of the login's own authority alone is right, or a file of the user's own")
  func right() {
    #expect(fault(Self.right) == nil)
    #expect(fault("\(Self.own)\n/mine.pem\0") == nil && fault("http.sslcainfo\n/mine.pem\0") == nil)
    #expect(fault(Self.right.replacing("h:1", with: "H:1")) == nil)
    #expect(fault("http.https://h.sslcainfo\n/mine.pem\0", at: "https://h:443/x") == nil)
  }

  @Test(
    "Where nothing names it for sure, or nothing it alone, git believes the system's authorities",
    arguments: [
      "", "http.https://other:1.sslcainfo\n/mine.pem\0", "\(own)\n/copies/right\0", "\(own)\n\0",
      "http.https://h:1/other.sslcainfo\n/mine.pem\0", "http.https://me@h:1.sslcainfo\n/mine.pem\0",
      "http.http://h:1.sslcainfo\n/mine.pem\0",
    ])
  func system(list: String) {
    #expect(fault(list) == .systemAuthorities)
    #expect(fault(list, isOwn: false) == nil)
    #expect(fault(list, digest: nil) == nil || list.contains("/copies/"))
  }

  @Test("A path never counts for sure, since git does not tell how the address has it")
  func path() {
    for path in ["/team", "/team/", "//team"] {
      #expect(fault("http.https://h:1\(path).sslcainfo\n/mine.pem\0") == .systemAuthorities)
    }
  }

  @Test(
    "A copy of another login's counts for any user and path of the server",
    arguments: [
      "", "https://h:1.", "https://me@h:1.", "https://h:1/other.", "https://h:1//.", "https://*:1.", "https://%68:1.",
    ])
  func other(place: String) {
    let key = "http.\(place)sslcainfo"
    #expect(fault("\(Self.right)\(key)\n/copies/other\0") == .otherAuthority(key: key))
    #expect(fault("\(key)\n/copies/right\0", digest: nil) == .otherAuthority(key: key))
    #expect(fault("\(key)\n/copies/gone\0") == .otherAuthority(key: key))
  }

  @Test(
    "Whatever git may take for false has it check nobody",
    arguments: [
      ("false", false), ("00", false), ("0x0", false), ("-0", false), ("", false), ("True", true), ("1", true),
    ])
  func unchecked(value: String, isChecked: Bool) {
    for place in ["", "https://h:1.", "https://h:1/other."] {
      let key = "http.\(place)sslverify"
      #expect(fault("\(Self.right)\(key)\n\(value)\0") == (isChecked ? nil : .unchecked(key: key)))
    }
    #expect(fault("\(Self.right)http.https://other.sslverify\nfalse\0") == nil)
    #expect(fault("http.sslverify\0\(Self.right)") == nil, "without a value it is true")
  }

  @Test("A star stands for one label")
  func star() {
    #expect(fault("\(Self.right)http.https://*.example:1.sslcainfo\n/copies/other\0") == nil)
    let key = "http.https://*.h.example.sslcainfo"
    #expect(
      fault("\(key)\n/copies/other\0", at: "https://a.h.example/x", digest: nil) == .otherAuthority(key: key))
  }

  @Test("A file of the user's own for all servers is none beside the copy, which counts")
  func globalFile() {
    #expect(fault("http.sslcainfo\n/mine.pem\0\(Self.own)\n/copies/right\0") == .systemAuthorities)
  }

  @Test("A key without a value names no file, and hides none")
  func withoutValue() {
    #expect(fault("http.sslcainfo\0") == .systemAuthorities)
    #expect(fault("http.sslcainfo\0\(Self.own)\n/copies/other\0") == .otherAuthority(key: Self.own))
  }
}
