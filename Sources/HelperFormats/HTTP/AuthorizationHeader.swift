import HTTPTerms

/// `Authorization` with an access token (RFC 6750 §2.1), as other programs read it.
package enum AuthorizationHeader {
  /// The field without a line feed: `Authorization: Bearer …`.
  /// Throws `unwritable` for a token or type that a header field cannot carry.
  package static func field(tokenType: String, token: String) throws(HelperFormatError) -> String {
    try checkToken(token)
    guard !tokenType.isEmpty, tokenType.utf8.allSatisfy({ isLetter($0) || $0 == UInt8(ascii: "-") }) else {
      throw .unwritable("the token type")
    }
    return "Authorization: \(tokenType) \(token)"
  }

  /// A configuration line for `curl --config`, line feed included. Throws as `field`.
  package static func curlConfig(tokenType: String, token: String) throws(HelperFormatError) -> String {
    let field = try field(tokenType: tokenType, token: token)
    var quoted = ""
    for character in field {
      if character == "\\" || character == "\"" { quoted.append("\\") }
      quoted.append(character)
    }
    return "header = \"\(quoted)\"\n"
  }

  /// A token is 1 or more of 0x21 to 0x7E: no control character can end the field early.
  package static func canCarry(_ token: some Collection<UInt8>) -> Bool {
    func isOdd(_ byte: UInt8) -> Bool { byte < 0x21 || byte > 0x7E }
    // Without a branch for each byte, where they lie together: a token may be long.
    let isPlain = token.withContiguousStorageIfAvailable { bytes in
      bytes.reduce(into: UInt8(0)) { $0 |= isOdd($1) ? 1 : 0 } == 0
    }
    return !token.isEmpty && isPlain ?? !token.contains(where: isOdd)
  }

  static func checkToken(_ token: String) throws(HelperFormatError) {
    guard canCarry(token.utf8) else { throw .unwritable("the access token") }
  }
}
