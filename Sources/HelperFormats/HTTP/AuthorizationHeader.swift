import HTTPTerms

/// `Authorization` with an access token (RFC 6750 §2.1), as other programs read it.
package enum AuthorizationHeader {
  /// The field without a line feed: `Authorization: Bearer …`.
  /// Throws `unwritable` for a token or type that a header field cannot carry.
  package static func field(tokenType: String, token: String) throws(HelperFormatError) -> String {
    "Authorization: \(try value(tokenType: tokenType, token: token))"
  }

  /// One JSON object that has the field and no other, on one line: `{"Authorization":"Bearer …"}`. Throws as `field`.
  package static func jsonObject(tokenType: String, token: String) throws(HelperFormatError) -> String {
    "{\"Authorization\":\"\(quoted(try value(tokenType: tokenType, token: token)))\"}"
  }

  /// The same with the field that proves the key (RFC 9449 §7.1), on two lines and as one object.
  package static func fields(tokenType: String, token: String, proof: String) throws(HelperFormatError) -> String {
    "\(try field(tokenType: tokenType, token: token))\n\(try field(proof: proof))"
  }

  package static func jsonObject(
    tokenType: String, token: String, proof: String
  ) throws(HelperFormatError) -> String {
    let authorization = quoted(try value(tokenType: tokenType, token: token))
    try check(proof: proof)
    return "{\"Authorization\":\"\(authorization)\",\"DPoP\":\"\(quoted(proof))\"}"
  }

  private static func field(proof: String) throws(HelperFormatError) -> String {
    try check(proof: proof)
    return "DPoP: \(proof)"
  }

  private static func check(proof: String) throws(HelperFormatError) {
    guard canCarry(proof.utf8) else { throw .unwritable("the proof") }
  }

  /// As ``curlConfig(tokenType:token:)``.
  package static func curlConfig(proof: String) throws(HelperFormatError) -> String {
    "header = \"\(quoted(try field(proof: proof)))\"\n"
  }

  private static func value(tokenType: String, token: String) throws(HelperFormatError) -> String {
    try checkToken(token)
    guard !tokenType.isEmpty, tokenType.utf8.allSatisfy({ isLetter($0) || $0 == UInt8(ascii: "-") }) else {
      throw .unwritable("the token type")
    }
    return "\(tokenType) \(token)"
  }

  /// A configuration line for `curl --config`, line feed included. Throws as `field`.
  package static func curlConfig(tokenType: String, token: String) throws(HelperFormatError) -> String {
    "header = \"\(quoted(try field(tokenType: tokenType, token: token)))\"\n"
  }

  /// What stands between double quotes, in curl's configuration and in JSON alike: `text` is printable ASCII.
  private static func quoted(_ text: String) -> String {
    text.reduce(into: "") { quoted, character in
      if character == "\\" || character == "\"" { quoted.append("\\") }
      quoted.append(character)
    }
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
