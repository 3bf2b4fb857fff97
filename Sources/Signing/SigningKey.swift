import CSigning
import Glibc
package import OAuthTerms
package import Sealing

/// Why there is no signature. No text of a key is in it.
package enum SigningError: Error, Sendable, Equatable, CustomStringConvertible {
  case noLibrary
  case noKey(String)
  case failed

  package var description: String {
    switch self {
    case .noLibrary: "signatures need libcrypto.so.3, which is not installed (Debian: libssl3)"
    case .noKey(let reason): reason
    case .failed: "libcrypto cannot sign with it"
    }
  }

  init?(_ result: Int32) {
    switch result {
    case Int32(CSIGNING_OK.rawValue): return nil
    case Int32(CSIGNING_NO_LIBRARY.rawValue): self = .noLibrary
    case Int32(CSIGNING_NO_KEY.rawValue):
      self = .noKey("it is no unencrypted private key, or its parts do not belong together")
    case Int32(CSIGNING_OTHER_KIND.rawValue):
      self = .noKey("it is none of these keys: EC P-256 or P-384, Ed25519, RSA of 2048 to 4096 bits")
    case Int32(CSIGNING_NO_CERTIFICATE.rawValue): self = .noKey("its certificate is none")
    case Int32(CSIGNING_OTHER_KEY.rawValue): self = .noKey("the certificate is for another key")
    default: self = .failed
    }
  }
}

/// A private key. libcrypto sees it for the moment of one signature; here it is wiped memory.
package struct SigningKey: Sendable {
  /// PKCS #8, DER.
  package let pkcs8: Secret
  package let publicKey: PublicKey

  /// Longest key that is read, DER.
  package static let limitBytes = Int(CSIGNING_DER_BYTES)

  /// A new one.
  package init(for algorithm: SignatureAlgorithm) throws(SigningError) {
    var result: Int32 = 0
    let made = Self.written { der, bytes in
      result = csigning_generate(Int32(algorithm.kind.rawValue), der, bytes)
      return result
    }
    if let error = SigningError(result) { throw error }
    try self.init(der: made, isForeign: false)
  }

  /// PKCS #8, PKCS #1 or SEC 1, DER. Whether the halves of one that `isForeign` belong together is tried; one of the
  /// vault's is read for every signature, and was tried when it came.
  package init(der: Secret, isForeign: Bool) throws(SigningError) {
    var found = csigning_public()
    var result: Int32 = 0
    let pkcs8 = Self.written { made, bytes in
      der.withBytes { given in
        result = csigning_read(
          given.bindMemory(to: UInt8.self).baseAddress, given.count, isForeign ? 1 : 0, made, bytes, &found)
      }
      return result
    }
    if let error = SigningError(result) { throw error }
    self.pkcs8 = pkcs8
    publicKey = PublicKey(found)
  }

  /// As a JWS holds it. Throws where the key is not one for `algorithm`.
  package func signature(
    of message: [UInt8], _ algorithm: SignatureAlgorithm
  ) throws(SigningError) -> [UInt8] {
    guard publicKey.algorithms.contains(algorithm) else { throw .noKey("it is no key for \(algorithm.rawValue)") }
    var result: Int32 = 0
    let signature = [UInt8](unsafeUninitializedCapacity: Int(CSIGNING_SIGNATURE_BYTES)) { signature, filled in
      pkcs8.withBytes { der in
        result = csigning_sign(
          der.bindMemory(to: UInt8.self).baseAddress, der.count, algorithm == .ps256 ? 1 : 0, message, message.count,
          signature.baseAddress, &filled)
      }
      if result != 0 { filled = 0 }
    }
    if let error = SigningError(result) { throw error }
    return signature
  }

  /// What `write` leaves in a buffer that is wiped; empty when it returns another number than 0.
  private static func written(_ write: (UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Int>) -> Int32) -> Secret {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: limitBytes) { buffer in
      var count = 0
      if write(buffer.baseAddress, &count) != 0 { count = 0 }
      defer { if let start = buffer.baseAddress { explicit_bzero(start, buffer.count) } }
      return Secret(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]))
    }
  }
}

extension SignatureAlgorithm {
  fileprivate var kind: csigning_kind {
    switch self {
    case .es256: CSIGNING_P256
    case .es384: CSIGNING_P384
    case .edDSA: CSIGNING_ED25519
    case .rs256, .ps256: CSIGNING_RSA
    }
  }
}
