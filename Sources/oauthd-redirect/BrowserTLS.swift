import FetchWire
import Glibc
import NIOCore
import NIOSSL

/// TLS towards browsers, for redirects on https. Neither a client's certificate nor an authority is looked at, so no file is
/// read.
struct BrowserTLS {
  private let context: NIOSSLContext
  /// Seconds since 1970 until which browsers take the certificate.
  let end: Int

  /// `now` is seconds since 1970. Throws what a browser would have against the certificate as well, which it tells nobody but
  /// its own user.
  init(_ certificate: RedirectCertificate, now: Int) throws(RedirectCertificateProblem) {
    guard let chain = try? NIOSSLCertificate.fromPEMBytes(certificate.chain), let own = chain.first else {
      throw .chainUnreadable
    }
    let begin = Self.date(own.notValidBefore)
    end = Self.date(own.notValidAfter)
    guard now >= begin else { throw .notYetValid(until: begin) }
    guard CertificateNames(own).hold(certificate.host) else { throw .nameMissing }
    guard let key = try? NIOSSLPrivateKey(bytes: certificate.key, format: .pem) else {
      // RFC 7468 §11, and the older kind of RFC 1421 §4.6.1.1.
      let marks = ["-----BEGIN ENCRYPTED", "Proc-Type: 4,ENCRYPTED"]
      let lines = certificate.key.split(separator: UInt8(ascii: "\n"))
      throw lines.contains { line in marks.contains { line.starts(with: $0.utf8) } }
        ? .keyHasPassphrase : .keyUnreadable
    }
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
    // What is older, browsers do not speak either (RFC 8996).
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["http/1.1"]
    // A connection has an end of its own (`RedirectLimits`), which waits for nobody.
    configuration.shutdownTimeout = .zero
    do { context = try NIOSSLContext(configuration: configuration) } catch {
      throw error as? NIOSSLError == .failedToLoadPrivateKey ? .keyOfAnother : .chainUnreadable
    }
    // Last: whoever renews it writes over both files, which have to belong together.
    guard now <= end else { throw .expired(at: end) }
  }

  /// For one connection.
  func handler() -> NIOSSLServerHandler { NIOSSLServerHandler(context: context) }

  private static func date(_ seconds: time_t) -> Int {
    let dates = RedirectCertificateProblem.dates
    return min(max(Int(seconds), dates.lowerBound), dates.upperBound)
  }
}
