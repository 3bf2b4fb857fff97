import CSodium

/// What `pizauth dump` prints, format 1: a nonce, and the accounts sealed with a key that stands in pizauth's source
/// (ChaCha20-Poly1305, RFC 8439 §2.8). pizauth promises the format within its first major release.
///
/// Inside are values one after the other, as its serializer (bincode) writes them: numbers little-endian, texts and lists
/// behind their counts.
struct PizauthDump {
  struct Account: Equatable {
    var name = ""
    var clientID = ""
    var clientSecret: String?
    var scope: [String] = []
    var tokenEndpoint = ""
    var accessToken: String?
    var refreshToken: String?
    /// Unix seconds.
    var expiresAt: Int?

    var hasLogin: Bool { accessToken != nil || refreshToken != nil }
  }

  enum Problem: Error, Equatable {
    /// Something else, or damaged.
    case notOne
    case version(UInt64)
  }

  /// By name. One without a login counts, too: its name is no other's.
  let accounts: [Account]

  /// Stands in pizauth's source, to keep the tokens from those who search files for texts.
  private static let key: [UInt8] = [
    0x66, 0xA2, 0x47, 0xA8, 0x5E, 0x48, 0xCF, 0xEC, 0xAA, 0xED, 0x9B, 0x36, 0xEB, 0xA9, 0x7D, 0x53,
    0x50, 0xD4, 0x28, 0x63, 0x75, 0x09, 0x7A, 0x44, 0xEE, 0xFF, 0xB9, 0xC4, 0x54, 0x6B, 0x65, 0xA3,
  ]
  private static let nonceBytes = Int(crypto_aead_chacha20poly1305_IETF_NPUBBYTES)
  private static let tagBytes = Int(crypto_aead_chacha20poly1305_IETF_ABYTES)
  private static let format: UInt64 = 1

  init(_ bytes: [UInt8]) throws(Problem) {
    guard let text = Self.opened(bytes) else { throw .notOne }
    var values = Values(text[...])
    let format = try values.number()
    guard format == Self.format else { throw .version(format) }
    accounts = try values.list { (values: inout Values) throws(Problem) in try Self.account(&values) }
      .sorted { $0.name < $1.name }
    guard values.rest.isEmpty else { throw .notOne }
  }

  /// Nil: something else, or damaged.
  private static func opened(_ bytes: [UInt8]) -> [UInt8]? {
    guard bytes.count > nonceBytes + tagBytes else { return nil }
    let (nonce, sealed) = (Array(bytes.prefix(nonceBytes)), Array(bytes.dropFirst(nonceBytes)))
    var text = [UInt8](repeating: 0, count: sealed.count - tagBytes)
    let status = crypto_aead_chacha20poly1305_ietf_decrypt(
      &text, nil, nil, sealed, UInt64(sealed.count), nil, 0, nonce, key)
    return status == 0 ? text : nil
  }

  private static func account(_ values: inout Values) throws(Problem) -> Account {
    var account = Account(name: try values.text())
    _ = try values.text()  // the authorization endpoint
    _ = try values.list { (values: inout Values) throws(Problem) in (try values.text(), try values.text()) }
    account.clientID = try values.text()
    account.clientSecret = try values.optionalText()
    _ = try values.text()  // the redirect
    account.scope = try values.list { (values: inout Values) throws(Problem) in try values.text() }
    account.tokenEndpoint = try values.text()
    switch try values.bytes(4) {
    case [0, 0, 0, 0]: break
    case [1, 0, 0, 0]:
      account.accessToken = try values.text()
      _ = try values.seconds()  // when it was got
      account.expiresAt = try values.seconds()
      account.refreshToken = try values.optionalText()
    default: throw .notOne
    }
    return account
  }

  private struct Values {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    mutating func bytes(_ count: Int) throws(Problem) -> [UInt8] {
      guard count <= rest.count else { throw .notOne }
      defer { rest = rest.dropFirst(count) }
      return Array(rest.prefix(count))
    }

    mutating func number() throws(Problem) -> UInt64 { try bytes(8).reversed().reduce(0) { $0 << 8 | UInt64($1) } }

    /// How many follow, each of a byte at least: no more than there is room for.
    private mutating func count() throws(Problem) -> Int {
      guard let count = Int(exactly: try number()), count <= rest.count else { throw .notOne }
      return count
    }

    mutating func text() throws(Problem) -> String {
      guard let text = String(validating: try bytes(try count()), as: UTF8.self) else { throw .notOne }
      return text
    }

    mutating func optionalText() throws(Problem) -> String? {
      switch try bytes(1) {
      case [0]: nil
      case [1]: try text()
      default: throw .notOne
      }
    }

    mutating func list<Element>(_ next: (inout Values) throws(Problem) -> Element) throws(Problem) -> [Element] {
      var list: [Element] = []
      for _ in 0..<(try count()) { list.append(try next(&self)) }
      return list
    }

    /// A time: seconds and nanoseconds.
    mutating func seconds() throws(Problem) -> Int? {
      let seconds = Int(exactly: try number())
      _ = try bytes(4)
      return seconds
    }
  }
}
