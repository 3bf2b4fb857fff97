import AgentWire
import Foundation
import Testing

@testable import oauthctl

@Suite("QR codes")
struct QRCodeTests {
  /// Drawn by the Python package qrcode 8.2 with the same mask: rows of bits, packed, in base 64.
  private static let vectors: [(text: String, mask: Int, bits: String)] = [
    (
      "a", 3,
      "/rv8EZButLt1ldupLsE9B/qv4AMA8vzvQfIh9BuQJ89+kgBJI/hlEEw2ug+N1p+uqsEFCl/sSAA="
    ),
    (
      "https://as.example/device?user_code=WDJB-MJHT", 7,
      "/iBz/Bc6EG6glrt0nXXbrvIuwVbpB/qqr+AWLQDTGoOxxsZSWOaG/VH/amLzDuX0iB4BC9At66qdGrLLTBJmVXJk3gFGetXWO6So"
        + "+gB4fF/7s6pQSZUcuiFPldXqF66XNzsFaPgv6cyNAA=="
    ),
    // The first size that tells its version.
    (
      "https://as.example/device?" + String(repeating: "c", count: 128), 2,
      "/noUT4v8FYXdgJBui9BGtLt1a93KNdukofz7rsF4VFghB/qqqqqv4ADrE1UA+83/5SVVThAifG3/lCrsHrXo7qI1s8orX+5SYXiB"
        + "AifOVBnCrsHMzDnqI1G/Tl3+5UVAQtAifOXgkCrsG9QRDqI1o8783/5S+SR1DGfMVipiqsHrXxTpE1EXn+3v5R/GB1D2fPHEhCsM"
        + "azSg3qc1psmgXhZSqN4ND2fEBXpCsMGwXgnqc3Jn12XhZGGFzND2ePFC5CsMWTTyXqc1ptm6Xv5S+IBdBGfMZ/tC6sGrUEXrE18X"
        + "uqXv5R+F19DKfA2uvCmsHxMF3pg1qc/sXz5SqQA="
    ),
    // The largest one, full; its blocks are of unequal length.
    (
      "https://as.example/device?" + String(repeating: "0123456789", count: 24) + "abcde", 2,
      "/kdCilG3P8FeinoXJpBuhvnidTvLt1o3pkEopdug5CvtgxLsFielEfKRB/qqqqqqqv4AwqjHof0A+6i9fk8BVTSLoVFs2kTAxTvh"
        + "SdSYnoMiAfLbG8EtS9dG9AVKTloWXkdM3G0QhpS8SeFpWBEXKXqWSoC9dE8jFMJjoWGgEkXiyylFK5K8n7eEUXqxjW5yG9dmwxdB"
        + "I4IU2kUkhrm+FdD9bp1CzmMTqfhXMwK9dglFFeAcoVmkEk/P430vydT+kxyqjHIf0f6oq9KikkrSRcoVFs+EXL504/ycW/D4aK1L"
        + "JXPEr469aAlkTIzboVksntnXuewWq5SDlhpNlLqxvknoW9Lip2TDLTIVkoEqksxYcUi/CGjLVs9rqTvmapC9Km0g7HzLoUgonnvZ"
        + "rQFQz9DSkAkmNr4fttZkS9Ck1grUg1oUmkMGvpzrpyydWAnzvmTrJXLHA/q9Pm0A/QBioVHkVsX/sYhqy9SqEEcBFHK3kWuuu9Pk"
        + "4y/N1cIXSg2qUuqwt1q5a5kFr0dHqTgk/sC9BCtn9QA="
    ),
  ]

  @Test("A code is, module by module, the one that another program draws", arguments: vectors.indices)
  func vector(index: Int) throws {
    let vector = Self.vectors[index]
    let code = try #require(QRCode(vector.text, mask: vector.mask))
    let bytes = [UInt8](try #require(Data(base64Encoded: vector.bits)))
    let count: Int = code.size * code.size
    let bits: [Bool] = (0..<count).map { (place: Int) -> Bool in
      let shift = UInt8(7 - place % 8)
      return (bytes[place / 8] >> shift) & 1 == 1
    }
    #expect(code.modules == bits)
  }

  @Test("Without a mask the one with the fewest points is taken")
  func mask() throws {
    for vector in Self.vectors {
      let chosen = try #require(QRCode(vector.text))
      let points = try (0..<8).map { mask in
        let code = try #require(QRCode(vector.text, mask: mask))
        return QRPenalty.points(of: code.modules, size: code.size)
      }
      #expect(points[chosen.mask] == points.min() && chosen.mask == vector.mask)
    }
  }

  @Test("Points are counted for runs, squares, what looks like a finder, and imbalance")
  func penalty() {
    // 12 x 12, all light: 24 lines of 12 (3 + 7 each), 121 squares of 3, and no dark one (10 for each five in a hundred).
    #expect(QRPenalty.points(of: Array(repeating: false, count: 144), size: 12) == 24 * 10 + 121 * 3 + 100)
  }

  @Test("What fits into no code of 271 bytes is none; each size is used up to its last byte")
  func sizes() throws {
    for version in QRVersion.all {
      #expect(QRCode(String(repeating: "c", count: version.capacity))?.size == version.size)
      #expect(QRCode(String(repeating: "c", count: version.capacity + 1))?.size != version.size)
    }
    #expect(QRVersion.all.map(\.number) == Array(1...QRVersion.last))
    #expect(QRCode(String(repeating: "c", count: 272)) == nil)
  }

  @Test("It is drawn as half blocks, two rows a line, with a margin of four light modules on each side")
  func lines() throws {
    let code = try #require(QRCode("a", mask: 3))
    #expect(code.lines.count == 15 && code.lines.allSatisfy { $0.count == code.width && code.width == 29 })
    #expect(code.lines[0] == String(repeating: "█", count: 29) && code.lines[1] == code.lines[0])
    // The finder's first two rows: seven dark ones, then one at each end.
    #expect(code.lines[2].hasPrefix("████ ▄▄▄▄▄ █") && code.lines[2].hasSuffix("█ ▄▄▄▄▄ ████"))
  }

  private func login(notice: String? = nil, page: String? = "https://as.example/device?user_code=A") -> LoginStarted {
    LoginStarted(
      loginID: "1", kind: .device, account: "tv", expiresInSeconds: 600, userCode: "A",
      verificationURI: "https://as.example/device", verificationURIComplete: page, notice: notice)
  }

  @Test("A login by code has one where it fits, and where the page is the server's own")
  func rule() throws {
    let code = try #require(LoginFlow.qrCode(of: login(), columns: 80, isASCII: false))
    #expect(LoginFlow.qrCode(of: login(), columns: code.width, isASCII: false) == nil)
    #expect(LoginFlow.qrCode(of: login(), columns: nil, isASCII: false) == nil)
    #expect(LoginFlow.qrCode(of: login(), columns: 80, isASCII: true) == nil)
    #expect(LoginFlow.qrCode(of: login(notice: "That page is at another"), columns: 80, isASCII: false) == nil)
    #expect(LoginFlow.qrCode(of: login(page: nil), columns: 80, isASCII: false) == nil)
  }
}
