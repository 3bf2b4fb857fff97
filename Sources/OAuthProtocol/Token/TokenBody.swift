import Sealing

/// The body of a token endpoint's answer, read by what it is rather than by what Content-Type says.
enum TokenBody {
  /// JSON, or form data (GitHub without an Accept header) as an object of strings.
  case object(JSONObject)
  case html
  case empty
  case other

  init(_ answer: HTTPAnswer) {
    let body = answer.body
    let mediaType = answer.headers.value("Content-Type")?.prefix { $0 != ";" }.trimmingBlanks().lowercased()
    switch Self.first(of: body) {
    case nil: self = .empty
    case UInt8(ascii: "{"):
      let object = JSONObject(reading: body)
      // What is outside the user's own members may be missing.
      self = .object(object.problem == nil ? object.withSlackUser : object)
    case UInt8(ascii: "<"): self = .html
    default:
      let isForm = mediaType == nil || mediaType == "application/x-www-form-urlencoded" || mediaType == "text/plain"
      guard isForm, let fields = body.withBytes({ try? FormFields(decoding: Self.withoutFinalLineBreaks($0)) }),
        fields.contains("access_token") || fields.contains("error") || fields.contains("refresh_token")
      else {
        self = .other
        return
      }
      self = .object(JSONObject(fields))
    }
  }

  /// Its first byte that is neither a blank nor of a byte order mark.
  private static func first(of body: Secret) -> UInt8? {
    body.withBytes { bytes in bytes.first { ![0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) } }
  }

  static func isJSON(_ body: Secret) -> Bool { first(of: body) == UInt8(ascii: "{") }

  private static func withoutFinalLineBreaks(_ bytes: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
    var rest = bytes[...]
    while let last = rest.last, last == 0x0A || last == 0x0D { rest = rest.dropLast() }
    return rest
  }

  /// The refresh token of an answer that may be bad in every other way; nil when there is none of 1…32768 bytes.
  ///
  /// Text that begins as an object and breaks later is searched too: the server has rotated, whatever came over. Not where
  /// the rest is missing (`isCut`): what stands deeper may be another token beside the one to come.
  static func salvagedRefreshToken(_ body: TokenBody, of answer: HTTPAnswer, isCut: Bool) -> Secret? {
    guard case .object(let object) = body else { return nil }
    switch object.value("refresh_token") {
    case .string(let token) where isRefreshToken(token): return token
    case .number(let digits) where isWhole(digits): return Secret(digits)
    default: break
    }
    guard object.problem != nil, !isCut else { return nil }
    return answer.body.withBytes { JSONReader.strings(named: "refresh_token", in: $0) }.last(where: isRefreshToken)
  }

  /// Whether a `refresh_token` came that is neither a text nor a number, or is too long to be kept. What is empty (null, an
  /// empty text, list or object) or false is none: a server that does not rotate may say so in that way.
  var hasUnusableRefreshToken: Bool {
    guard case .object(let object) = self else { return false }
    return switch object.value("refresh_token") {
    case nil, .null: false
    case .string(let token): token.count > TokenResponse.tokenLimitBytes
    case .number(let digits): !Self.isWhole(digits)
    case .bool(let isThere): isThere
    case .array(let elements): !elements.isEmpty
    case .object(let members): !members.isEmpty
    }
  }

  /// RFC 6749 App. A.17 has printable ASCII alone. Any other text is kept, too: it travels as form data only, and the
  /// server has rotated, so that the token before it would be taken for stolen.
  static func isRefreshToken(_ token: Secret) -> Bool {
    (1...TokenResponse.tokenLimitBytes).contains(token.count)
  }

  /// Of a longer number only the beginning was read.
  private static func isWhole(_ number: String) -> Bool { number.utf8.count < JSONReader.numberLimitBytes }
}

extension JSONObject {
  /// Form data seen as an object of strings, repeated names repeated.
  init(_ fields: FormFields) {
    self.init(members: fields.members.map { Member(name: $0.name, value: .string($0.value)) }, problem: nil)
  }
}
