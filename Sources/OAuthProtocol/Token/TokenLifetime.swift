import HTTPTerms

/// How long an access token lasts, as far as the server said.
package enum TokenLifetime: Sendable, Equatable {
  /// 1…``limitSeconds`` seconds, to be counted from before the request was sent.
  case seconds(Int)
  /// To be learned from a 401.
  case unknown(Unknown)

  package enum Unknown: String, Sendable, Equatable {
    case missing
    /// Zero or negative: some servers mean "never", some mean nothing.
    case notPositive = "not positive"
    /// Not a number, nor text that holds one.
    case notANumber = "not a number"
  }

  /// The longest lifetime believed: ten years, which no server of a token that ends has been seen to pass.
  package static let limitSeconds = 10 * 365 * 86_400

  /// `expires_in` (RFC 6749 §5.1): a number, whole or not, or text that holds one; huge ones are cut to the limit.
  init(_ value: JSONValue?) {
    let text: String
    switch value {
    case nil, .null: self = .unknown(.missing); return
    case .number(let number): text = number
    case .string(let secret): text = secret.text(limit: 64)?.trimmingBlanks() ?? ""
    case .bool, .array, .object: self = .unknown(.notANumber); return
    }
    // Digits, sign, point and exponent only: Double would read "nan", "inf" and "0x10" too.
    guard text.utf8.allSatisfy({ isDigit($0) || Array("+-.eE".utf8).contains($0) }), let number = Double(text) else {
      self = .unknown(.notANumber)
      return
    }
    guard number >= 1 else { self = .unknown(.notPositive); return }
    self = .seconds(Int(min(number, Double(Self.limitSeconds))))
  }

  /// The number of seconds, or nil when it must be learned.
  package var knownSeconds: Int? {
    if case .seconds(let seconds) = self { seconds } else { nil }
  }
}
