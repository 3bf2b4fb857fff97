import Glibc
import NIOSSL

/// The names and addresses that a certificate is for (RFC 9525 §6). The common name is none of them, to browsers neither.
struct CertificateNames {
  private var names: [String] = []
  private var addresses: [[UInt8]] = []

  init(_ certificate: NIOSSLCertificate) {
    for name in certificate._subjectAlternativeNames() {
      let bytes = name.contents.withUnsafeBufferPointer { Array($0) }
      switch name.nameType {
      case .dnsName: names.append(String(decoding: bytes, as: UTF8.self))
      case .ipAddress: addresses.append(bytes)
      default: break
      }
    }
  }

  /// Whether `host`, a name of one label or an address without brackets, is among them. No wildcard stands for one label.
  func hold(_ host: String) -> Bool {
    if let address = Self.bytes(of: host) { return addresses.contains(address) }
    return names.contains { $0.lowercased() == host.lowercased() }
  }

  /// In the order of the network; nil for a name.
  private static func bytes(of host: String) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 16)
    if inet_pton(AF_INET, host, &bytes) == 1 { return Array(bytes[..<4]) }
    return inet_pton(AF_INET6, host, &bytes) == 1 ? bytes : nil
  }
}
