package import Sealing

/// By which a client proves itself where it connects (RFC 8705): its certificates, and the private key of the first.
package struct ConnectionCertificate: Sendable, Equatable {
  /// One PEM text of both, which crosses to the process that connects, for one request.
  package let pem: Secret

  /// `key`: PKCS #8. `certificates`: DER, that of the key first.
  package init(key: Secret, certificates: [[UInt8]]) {
    pem = PEMText.text(key: key, certificates: certificates)
  }
}
