/// `token` (RFC 9110 §5.6.2): what methods and names of header fields are.
package enum HTTPToken {
  /// A blank in it would begin what comes next.
  package static func isToken(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy(isTokenCharacter) }

  /// `tchar`
  package static func isTokenCharacter(_ byte: UInt8) -> Bool {
    isDigit(byte) || isLetter(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }
}
