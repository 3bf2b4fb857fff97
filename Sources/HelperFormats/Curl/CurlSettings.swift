import HTTPTerms

/// What curl reads with `--config` from an inherited descriptor.
package struct CurlSettings: Sendable {
  package var urls: [CurlURL]
  /// No proxy, whoever names it.
  package var staysOnThisMachine = false
  /// Standard output is a terminal and takes the body; curl itself sees a pipe.
  package var isInteractive: Bool
  /// Descriptor of the authority to trust, as PEM; nil for curl's own.
  package var authority: Int32?
  /// The user has an opinion on the progress meter.
  package var noticesProgress: Bool
  /// Nothing comes after a request on its connection: what is too much of a body is no request there.
  package var closesConnections = false

  package init(
    urls: [CurlURL], staysOnThisMachine: Bool = false, isInteractive: Bool, authority: Int32? = nil,
    noticesProgress: Bool, closesConnections: Bool = false
  ) {
    self.urls = urls
    self.staysOnThisMachine = staysOnThisMachine
    self.isInteractive = isInteractive
    self.authority = authority
    self.noticesProgress = noticesProgress
    self.closesConnections = closesConnections
  }

  /// The configuration text. `headersPath` is where curl writes the response headers, nil for nowhere of ours.
  package func text(_ token: HelperToken, headersPath: String?) throws(HelperFormatError) -> String {
    let isLoopback = urls.contains { $0.origin.scheme == .http }
    var header = try AuthorizationHeader.curlConfig(tokenType: token.tokenType, token: token.accessToken)
    if let proof = token.proof { header += try AuthorizationHeader.curlConfig(proof: proof) }
    var lines = [
      Self.line("proto", isLoopback ? "=http,https" : "=https"),
      Self.line("proto-default", "https"),
      "suppress-connect-headers",
    ]
    if let authority {
      lines.append(Self.line("cacert", "/dev/fd/\(authority)"))
      // Else curl trusts the system's authorities beside it. This is no folder, so there are none in it.
      lines.append(Self.line("capath", "/dev/null"))
    }
    if closesConnections { lines.append(Self.line("header", "Connection: close")) }
    if let headersPath { lines.append(Self.line("dump-header", headersPath)) }
    if isInteractive {
      lines.append("no-buffer")
      if !noticesProgress { lines.append("no-progress-meter") }
    }
    return header + lines.joined(separator: "\n") + "\n"
  }

  /// What has to count whatever was said before: a proxy for this machine's own loopback would get the token, and so would
  /// whoever listens where nothing is encrypted. `ciphers` are those that the user has named.
  package func lastWords(ciphers: String?) -> [String] {
    (staysOnThisMachine ? ["--noproxy", "*"] : [])
      + (ciphers.map { ["--ciphers", CurlOptionEffects.encrypting(ciphers: $0)] } ?? [])
  }

  /// Variables that curl does not get, for the same reason: `http_proxy`, `ALL_PROXY` and the like.
  package func isLeftOut(_ variable: String) -> Bool { staysOnThisMachine && variable.lowercased().hasSuffix("_proxy") }

  /// `name = "value"`. No value of ours holds a line end.
  private static func line(_ name: String, _ value: String) -> String {
    let escaped = value.unicodeScalars.map { $0 == "\\" || $0 == "\"" ? "\\\($0)" : String($0) }.joined()
    return "\(name) = \"\(escaped)\""
  }
}
