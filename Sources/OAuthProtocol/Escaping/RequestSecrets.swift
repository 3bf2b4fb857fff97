package import Sealing

/// The secrets of a request, to be cut out of what the server says in its answer: a server that repeats what it was sent
/// must not get a password onto a terminal or into a log.
///
/// Found are whole secrets and pieces of ``pieceBytes`` or more: as they are, percent-encoded or quoted-printable, with the
/// escapes of JSON or HTML, in base 64 (as in a Basic header) or hexadecimal, in either case, with signs, blanks or tags in
/// between, those beyond ASCII too, and two bytes taken for one character. Words that look like a token (``TokenLikeWords``)
/// are left out as well: other encodings, and the secrets of other requests. What a server disguises as words is not found.
package struct RequestSecrets: Sendable {
  /// Shortest piece of a secret that is cut out: shorter ones are found in harmless words, and tell a guesser little.
  package static let pieceBytes = 8
  /// A secret shorter than this would be found in every text.
  package static let leastBytes = 4
  /// Stands where something was cut out.
  package static let mark = "[cut]"

  /// Form fields whose values are no secrets. Every other one is, those of the account's own parameters too.
  private static let publicFields: Set<String> = [
    "grant_type", "client_id", "redirect_uri", "response_type", "scope", "resource", "audience", "username",
    "token_type_hint", "code_challenge", "code_challenge_method", "subject_token_type", "actor_token_type",
    "requested_token_type",
  ]

  private let values: [Secret]
  /// Texts that a server may repeat, though they look like a token: a client id, an address.
  private let publicTexts: [String]

  package init(_ values: [Secret], publicTexts: [String] = []) {
    self.values = values
    self.publicTexts = publicTexts
  }

  /// Beside these, `more`.
  package func adding(_ more: [Secret]) -> RequestSecrets { RequestSecrets(values + more, publicTexts: publicTexts) }

  /// Everything in a request that is not known to be public: form values, and the credentials with what is in them.
  package init(of request: HTTPRequest) {
    let members = request.body.withBytes { try? FormFields(decoding: $0) }?.members ?? []
    var values: [Secret] = []
    var publicTexts = [request.url]
    for member in members {
      if !Self.publicFields.contains(member.name) {
        values.append(member.value)
      } else if let text = member.value.text(limit: 4_096) {
        publicTexts.append(text)
      }
    }
    if let credentials = request.credentials {
      // Without the scheme's name, which is no secret.
      let token = credentials.withBytes { Secret($0.drop { $0 != UInt8(ascii: " ") }.dropFirst()) }
      values.append(token)
      if let (id, password) = Self.pair(inBasic: token) {
        values.append(password)
        publicTexts.append(id)
      }
    }
    self.values = values
    self.publicTexts = publicTexts
  }

  /// `text` with every piece of a secret replaced by ``mark``, and every other word that looks like a token by an ellipsis.
  package func cut(from text: String) -> String {
    let bytes = Array(text.utf8)
    let tokens = TokenLikeWords.find(in: bytes, isPublic)
    return Self.cut(marks(in: bytes) ?? [Bool](repeating: false, count: bytes.count), tokens, from: bytes) ?? text
  }

  /// The same, leaving words that only look like a token.
  package func cutPieces(from text: String) -> String {
    let bytes = Array(text.utf8)
    return marks(in: bytes).flatMap { Self.cut($0, [], from: bytes) } ?? text
  }

  /// Nil where there is nothing to cut. A stretch of both kinds is a secret's.
  private static func cut(_ secret: [Bool], _ tokens: [Range<Int>], from bytes: [UInt8]) -> String? {
    var isCut = secret
    for index in tokens.joined() { isCut[index] = true }
    guard isCut.contains(true) else { return nil }
    var kept: [UInt8] = []
    var index = 0
    while index < bytes.count {
      let end = isCut[index...].firstIndex(of: !isCut[index]) ?? bytes.count
      if isCut[index] {
        kept += (secret[index..<end].contains(true) ? mark : "…").utf8
      } else {
        kept += bytes[index..<end]
      }
      index = end
    }
    return String(decoding: kept, as: UTF8.self)
  }

  private func isPublic(_ word: ArraySlice<UInt8>) -> Bool {
    // Without the end of a sentence.
    let end = word.lastIndex { !".:!?".utf8.contains($0) } ?? word.startIndex
    return publicTexts.contains { text in text.utf8.indices.contains { text.utf8[$0...].starts(with: word[...end]) } }
  }

  /// Whether `text` holds a piece of a secret, or a word that looks like a token.
  package func mayBe(in text: String) -> Bool {
    appear(in: text) || !TokenLikeWords.find(in: Array(text.utf8), isPublic).isEmpty
  }

  /// Whether `text` holds a piece of a secret.
  package func appear(in text: String) -> Bool { marks(in: Array(text.utf8)) != nil }

  /// Those of `words` that hold nothing of a piece of a secret, which may be spread over several.
  package func without(_ words: [String]) -> [String] {
    guard let marks = marks(in: Array(words.joined(separator: "\n").utf8)) else { return words }
    var start = 0
    return words.filter { word in
      defer { start += word.utf8.count + 1 }
      return !marks[start..<start + word.utf8.count].contains(true)
    }
  }

  /// Which bytes belong to a secret; nil for none.
  private func marks(in bytes: [UInt8]) -> [Bool]? {
    guard bytes.count >= Self.leastBytes, !values.isEmpty else { return nil }
    let plain = UnescapedText(plain: bytes)
    let once = plain.unescaped()
    // Escaped twice, as a form value in JSON is; without an escape there is nothing new to see.
    var readings = once.bytes == bytes ? [plain] : [plain, once, once.unescaped()]
    if let last = readings.last, last.bytes.contains(UInt8(ascii: "<")) { readings.append(last.withoutTags()) }
    var views = readings + readings.map { $0.lettersAndDigits() }
    for reading in readings where reading.bytes.contains(where: { $0 >= 0x80 }) {
      views.append(reading.lettersAndDigits(UnescapedText.isASCIILetterOrDigit))
      let pairs = [true, false].map { reading.pairs(bigEndian: $0) }
      // In the other byte order one character of ASCII is one of these, with a byte of nothing.
      views += pairs + pairs.map { $0.lettersAndDigits() } + pairs.map { $0.unescaped() }
    }
    let pieces = SecretPieces(of: values, in: views)
    guard !pieces.isEmpty else { return nil }
    var marks = [Bool](repeating: false, count: bytes.count)
    pieces.mark(in: views, &marks)
    guard marks.contains(true) else { return nil }
    // A character is cut out whole.
    for index in bytes.indices.dropFirst() where bytes[index] & 0xC0 == 0x80 && marks[index - 1] { marks[index] = true }
    for index in bytes.indices.dropLast().reversed() where bytes[index + 1] & 0xC0 == 0x80 && marks[index + 1] {
      marks[index] = true
    }
    return marks
  }

  /// The client's id and secret in the base 64 of a Basic header (RFC 6749 §2.3.1).
  private static func pair(inBasic token: Secret) -> (id: String, password: Secret)? {
    token.withBytes { text in
      var decoded = WipedBuffer(capacity: text.count)
      var bits: UInt32 = 0
      var count = 0
      for byte in text {
        guard let value = Base64Text.value(of: byte) else { break }
        bits = bits << 6 | UInt32(value)
        count += 6
        if count >= 8 {
          count -= 8
          decoded.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
      }
      return decoded.secret().withBytes { pair in
        guard let colon = pair.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        var secret = WipedBuffer(capacity: pair.count)
        secret.append(contentsOf: UnescapedText(plain: Array(pair[(colon + 1)...])).unescaped().bytes)
        let id = UnescapedText(plain: Array(pair[..<colon])).unescaped().bytes
        return (String(decoding: id, as: UTF8.self), secret.secret())
      }
    }
  }
}
