/// What `oauthd-redirect` proves itself to browsers with, where the redirect is an https one.
package struct RedirectCertificate: Equatable, Sendable {
  /// Longest PEM text of the chain, in bytes: a few certificates have some KiB each.
  package static let chainBytes = 64 << 10
  /// Longest PEM text of the key, in bytes: an RSA key of 16,384 bits has 12.6 KiB.
  package static let keyBytes = 16 << 10
  /// Longest name in the DNS.
  static let hostBytes = 253

  /// What the redirect URI names, and the certificate has to: a name, or an address without brackets.
  package var host: String
  /// PEM: the certificate of `host`, then those that lead to its authority.
  package var chain: [UInt8]
  /// PEM, without a passphrase.
  package var key: [UInt8]

  package init(host: String, chain: [UInt8], key: [UInt8]) {
    self.host = host
    self.chain = chain
    self.key = key
  }
}

/// Why no browser would take a certificate, or no connection could be made with it. Dates are within ``dates``.
package enum RedirectCertificateProblem: Error, Equatable, Sendable {
  /// Seconds since 1970, until the last second that a certificate can name (RFC 5280 §4.1.2.5).
  package static let dates = 0...253_402_300_799

  /// It is no PEM with a certificate in it.
  case chainUnreadable
  /// It is no PEM with a private key in it.
  case keyUnreadable
  case keyHasPassphrase
  /// The key is another certificate's.
  case keyOfAnother
  /// It does not name the redirect's host (RFC 9525 §6).
  case nameMissing
  case notYetValid(until: Int)
  case expired(at: Int)
}

/// It holds the private key: printing shows nothing of it.
extension RedirectCertificate: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "<certificate for \(plainText(host))>" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension RedirectCertificate {
  var size: Int { 2 + host.utf8.count + 4 + chain.count + 4 + key.count }

  func validate() throws(FetchWireError) {
    guard (1...Self.hostBytes).contains(host.utf8.count) else { throw .invalid("host") }
    guard (1...Self.chainBytes).contains(chain.count) else { throw .invalid("certificates") }
    guard (1...Self.keyBytes).contains(key.count) else { throw .invalid("key") }
  }

  init(payload reader: inout PayloadReader) throws(FetchWireError) {
    let host = try reader.text("host")
    let chain = try reader.bytes("certificates", limit: Self.chainBytes)
    self.init(host: host, chain: chain, key: try reader.bytes("key", limit: Self.keyBytes))
    try validate()
  }

  func write(to writer: inout PayloadWriter) {
    writer.text(host)
    for bytes in [chain, key] {
      writer.integer(bytes.count, bytes: 4)
      writer.raw(bytes)
    }
  }
}

extension RedirectCertificateProblem {
  /// The number of its kind, and its date or 0.
  var numbers: (kind: Int, date: Int) {
    switch self {
    case .chainUnreadable: (1, 0)
    case .keyUnreadable: (2, 0)
    case .keyHasPassphrase: (3, 0)
    case .keyOfAnother: (4, 0)
    case .nameMissing: (5, 0)
    case .notYetValid(let date): (6, date)
    case .expired(let date): (7, date)
    }
  }

  init(payload reader: inout PayloadReader) throws(FetchWireError) {
    let kind = try reader.integer(bytes: 1, "problem")
    let date = try reader.certificateDate()
    let all: [RedirectCertificateProblem] = [
      .chainUnreadable, .keyUnreadable, .keyHasPassphrase, .keyOfAnother, .nameMissing, .notYetValid(until: date),
      .expired(at: date),
    ]
    guard let problem = all.first(where: { $0.numbers == (kind, date) }) else { throw .invalid("problem") }
    self = problem
  }

  func write(to writer: inout PayloadWriter) {
    writer.integer(numbers.kind, bytes: 1)
    writer.integer(numbers.date, bytes: 8)
  }
}

extension PayloadReader {
  /// One of ``RedirectCertificateProblem/dates``.
  mutating func certificateDate() throws(FetchWireError) -> Int {
    let date = try integer(bytes: 8, "date")
    guard RedirectCertificateProblem.dates.contains(date) else { throw .invalid("date") }
    return date
  }
}
