import AgentCore
import AgentWire
import FetchWire
import HTTPTerms
import Sealing
import SystemFacts

extension RedirectIdentity {
  /// Reads `files` under the rules of ``TrustedFile``; the key is nobody else's to read. Of what they hold, certificates and one
  /// key alone are kept.
  init(reading files: RedirectIdentityFiles, host: String, by attempt: ReadingAttempt) throws(RedirectListenerError) {
    let chain = try Self.read(
      files.certificate, key: "redirect_cert_file", by: attempt, limitBytes: RedirectCertificate.chainBytes)
    guard !Self.isKey(chain) else {
      // Then the key's file is most likely the certificate, which others may well read.
      throw RedirectListenerError(
        "its redirect_cert_file \(plainText(files.certificate)) holds no certificate (PEM), but a private key",
        isOfFile: true, hint: "name the certificate as redirect_cert_file, and its key as redirect_key_file")
    }
    var key = try Self.read(
      files.key, key: "redirect_key_file", by: attempt, limitBytes: RedirectCertificate.keyBytes, isSecret: true)
    defer { key.wipe() }
    var own = PEMBlocks.privateKey(in: key).map { Array(key[$0]) } ?? []
    defer { own.wipe() }
    self.init(host: host, files: files, chain: PEMBlocks.certificates(in: chain), key: Secret(own))
    if self.chain.isEmpty { throw RedirectListenerError(.chainUnreadable, of: self) }
    if own.isEmpty { throw RedirectListenerError(.keyUnreadable, of: self) }
  }

  /// Whether `text` has the mark of a private key (RFC 7468 §10, §11, or an older one), and none of a certificate (§5).
  private static func isKey(_ text: [UInt8]) -> Bool {
    let labels = text.split(separator: UInt8(ascii: "\n")).filter { $0.starts(with: "-----BEGIN ".utf8) }
      .compactMap { $0.split(separator: UInt8(ascii: "-")).first.map { String(decoding: $0, as: UTF8.self) } }
    return labels.contains { $0.hasSuffix("PRIVATE KEY") } && !labels.contains { $0.hasSuffix("CERTIFICATE") }
  }

  private static func read(
    _ path: String, key: String, by attempt: ReadingAttempt, limitBytes: Int, isSecret: Bool = false
  ) throws(RedirectListenerError) -> [UInt8] {
    let name = "its \(key) \(plainText(path))"
    do throws(TrustedFile.Failure) {
      let bytes = try attempt.read(path, limitBytes: limitBytes, isSecret: isSecret)
      guard bytes.isEmpty else { return bytes }
      throw .refused("is empty")
    } catch {
      throw RedirectListenerError(
        "\(name) \(error.sentence)", isOfFile: true,
        hint: error.remedy
          ?? "put the file there, or take redirect_cert_file and redirect_key_file out of the account's file")
    }
  }
}

extension RedirectCertificate {
  /// As it crosses to the helper, which is the one that reads it.
  init(_ identity: RedirectIdentity) {
    self.init(host: identity.host, chain: identity.chain, key: identity.key.withBytes { Array($0) })
  }
}

extension RedirectListenerError {
  /// What is wrong with an identity, and what makes another.
  init(_ problem: RedirectCertificateProblem, of identity: RedirectIdentity) {
    let (certificate, key) = (plainText(identity.files.certificate), plainText(identity.files.key))
    func date(_ seconds: Int) -> String { CivilTime(unixSeconds: seconds).rfc3339 }
    let host = ShellWord.quoted(identity.host)
    let another = NextStep.advice(
      "name the right files, or new ones, made by: mkcert -cert-file FILE.pem -key-file FILE-key.pem \(host)")
    let (message, hint): (String, NextStep) =
      switch problem {
      case .chainUnreadable:
        ("its redirect_cert_file \(certificate) holds no certificate (PEM) that can be read", another)
      case .keyUnreadable: ("its redirect_key_file \(key) holds no private key (PEM) that can be read", another)
      case .keyHasPassphrase:
        (
          "its redirect_key_file \(key) has a passphrase, which nobody could type at each login",
          .advice("write the key without one, into a file that only you may read")
        )
      case .keyOfAnother: ("the key in \(key) is not that of the certificate in \(certificate)", another)
      case .nameMissing: ("the certificate in \(certificate) has no subjectAltName of \(identity.host)", another)
      case .expired(let end): ("the certificate in \(certificate) has expired, at \(date(end))", identity.renewal)
      case .notYetValid(let begin):
        (
          "the certificate in \(certificate) is valid from \(date(begin)) on only",
          .advice("check this machine's clock: date")
        )
      }
    self.init(message, isOfFile: true, hint: hint)
  }
}
