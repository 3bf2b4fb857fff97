package import AgentWire
package import Sealing
import SystemFacts

/// The files that a redirect listener on https proves itself with, as an account names them. Absolute paths.
package struct RedirectIdentityFiles: Sendable, Equatable {
  /// PEM: the listener's own certificate, then those that lead to its authority.
  package var certificate: String
  package var key: String

  package init(certificate: String, key: String) {
    self.certificate = certificate
    self.key = key
  }
}

/// What those files held when a login began.
package struct RedirectIdentity: Sendable {
  /// What the certificate has to name: the redirect's host, an address without brackets.
  package let host: String
  package let files: RedirectIdentityFiles
  package let chain: [UInt8]
  package let key: Secret

  package init(host: String, files: RedirectIdentityFiles, chain: [UInt8], key: Secret) {
    self.host = host
    self.files = files
    self.chain = chain
    self.key = key
  }

  /// What makes a certificate in the place of one that ends. It writes over both files: for one that is right but for that.
  package var renewal: NextStep {
    let words = [files.certificate, files.key, host].map { ShellWord.quoted($0) }
    return .run("mkcert -cert-file \(words[0]) -key-file \(words[1]) \(words[2])   # or whatever made the certificate")
  }
}
