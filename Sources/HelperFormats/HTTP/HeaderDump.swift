package import HTTPTerms

/// The header fields that `curl -D FILE` wrote: a block for each response, informational ones, redirects and a proxy's
/// answer to CONNECT before the one that counts.
package struct HeaderDump: Sendable, Equatable {
  /// Longest dump that is read.
  package static let limit = 1 << 20

  /// The status of the last block, 200 to 599.
  package let status: Int
  /// Whether the blank line that ends the block was there.
  package let isWhole: Bool
  /// Names in lower case, values without blanks around them.
  package let fields: [(name: String, value: String)]
  /// Whether a redirect led away from where the request went first. What is answered afterwards says nothing about the
  /// token: curl sends it to no other host.
  package let hasLeftOrigin: Bool
  /// Whether one of the answers from there was a 401.
  package let hasUnauthorized: Bool
  /// Whether one of them was taken and answered with the address of the result (RFC 9110 §15.4.2 to §15.4.4): 301, 302, 303.
  package let hasAnswered: Bool

  package static func == (left: HeaderDump, right: HeaderDump) -> Bool {
    left.status == right.status && left.isWhole == right.isWhole
      && left.hasLeftOrigin == right.hasLeftOrigin && left.hasUnauthorized == right.hasUnauthorized
      && left.fields.elementsEqual(right.fields) { $0.name == $1.name && $0.value == $1.value }
  }

  /// Nil where no final status line is to be found. `origins` are where the requests went first; without any, all
  /// redirects but relative ones lead away.
  package init?(_ bytes: [UInt8], from origins: [Origin] = []) {
    guard bytes.count <= Self.limit else { return nil }
    var status: Int?
    var isWhole = false
    var fields: [(name: String, value: String)] = []
    var (hasLeft, hasUnauthorized, hasAnswered) = (false, false, false)
    // Before the first block, and after each: what stands there without a status line is a trailer.
    var isInside = false
    for piece in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      // What follows the last line feed is no line, unless the dump was cut there.
      if piece.isEmpty, piece.startIndex == bytes.endIndex { break }
      let line = piece.last == UInt8(ascii: "\r") ? piece.dropLast() : piece
      if line.isEmpty {
        if isInside { isWhole = true }
        isInside = false
      } else if isInside {
        Self.add(line, to: &fields)
      } else if let found = Self.statusCode(line) {
        hasLeft = hasLeft || RedirectTarget.leads(away: status, fields, from: origins)
        if found == 401, !hasLeft { hasUnauthorized = true }
        if (301...303).contains(found) { hasAnswered = true }
        (status, fields, isWhole, isInside) = (found, [], false, true)
      }
    }
    guard let status, status >= 200 else { return nil }
    self.status = status
    self.isWhole = isWhole
    self.fields = fields
    hasLeftOrigin = hasLeft
    self.hasUnauthorized = hasUnauthorized
    self.hasAnswered = hasAnswered
  }

  /// All values of `WWW-Authenticate`, read.
  package var challenges: [Challenge] {
    Challenge.parse(fields.filter { $0.name == "www-authenticate" }.map(\.value))
  }

  /// Whether a newer token may turn this answer into another. `scheme`: of the token that was sent, in lower case.
  package func asksForNewToken(_ scheme: String = "bearer") -> Bool {
    status == 401 && !hasLeftOrigin && BearerVerdict(challenges, scheme: scheme) == .refreshMayHelp
  }

  /// The nonce that the next proof should hold (RFC 9449 §9); nil: none that can be used was given.
  package var nextNonce: String? {
    DPoPNonce.given(by: fields.filter { $0.name == DPoPNonce.field.lowercased() }.map(\.value))
  }

  /// Whether the proof was refused for want of that nonce: nothing is wrong with the token.
  package var wantsNonce: Bool {
    nextNonce != nil && challenges.contains { $0.scheme == "dpop" && $0.parameter("error") == "use_dpop_nonce" }
  }
}

extension HeaderDump {
  /// Of a line like `HTTP/1.1 401 Unauthorized` or `HTTP/2 401`.
  fileprivate static func statusCode(_ line: ArraySlice<UInt8>) -> Int? {
    let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: true)
    guard parts.count >= 2, parts[0].starts(with: "HTTP/".utf8), parts[1].count == 3 else { return nil }
    guard parts[1].allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
    return Int(String(decoding: parts[1], as: UTF8.self)).flatMap { (100...599).contains($0) ? $0 : nil }
  }

  fileprivate static func add(_ line: ArraySlice<UInt8>, to fields: inout [(name: String, value: String)]) {
    if line.first == 0x20 || line.first == 0x09 {
      // Folded (RFC 9112 §5.2): it belongs to the field before.
      guard !fields.isEmpty else { return }
      fields[fields.count - 1].value += " " + text(line)
      return
    }
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
    let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
    fields.append((name, text(line[(colon + 1)...])))
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
    var value = bytes.drop(while: isBlank)
    while let last = value.last, isBlank(last) { value.removeLast() }
    return String(decoding: value, as: UTF8.self)
  }
}
