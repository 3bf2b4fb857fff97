import AgentWire
import HTTPTerms
import HelperFormats

/// What curl is told by `--config` on an inherited descriptor.
struct CurlSettings: Sendable {
  var urls: [CurlURL]
  /// No proxy, whoever names it.
  var staysOnThisMachine = false
  /// Standard output is a terminal and takes the body; curl itself sees a pipe.
  var isInteractive: Bool
  /// Descriptor of the authority to trust, as PEM; nil for curl's own.
  var authority: Int32?
  /// The user has an opinion on the progress meter.
  var noticesProgress: Bool

  /// The configuration text. `headersPath` is where curl writes the response headers, nil for nowhere of ours.
  func text(_ answer: TokenAnswer, headersPath: String?) throws(CommandError) -> String {
    let isLoopback = urls.contains { $0.origin.scheme == .http }
    let header: String
    do {
      header = try AuthorizationHeader.curlConfig(tokenType: answer.tokenType, token: answer.accessToken)
    } catch {
      throw .local(error.message, run: "oauthctl status", status: 125)
    }
    var lines = [
      Self.line("proto", isLoopback ? "=http,https" : "=https"),
      Self.line("proto-default", "https"),
      "suppress-connect-headers",
    ]
    if let authority {
      lines.append(Self.line("cacert", "/dev/fd/\(authority)"))
      // Else curl trusts the system's authorities beside it. No file in here has a name that is looked for.
      lines.append(Self.line("capath", "/dev/fd"))
    }
    if let headersPath { lines.append(Self.line("dump-header", headersPath)) }
    if isInteractive {
      lines.append("no-buffer")
      if !noticesProgress { lines.append("no-progress-meter") }
    }
    return header + lines.joined(separator: "\n") + "\n"
  }

  /// What has to count whatever was said before: a proxy for this machine's own loopback would get the token.
  var lastWords: [String] { staysOnThisMachine ? ["--noproxy", "*"] : [] }

  /// Variables that curl does not get, for the same reason: `http_proxy`, `ALL_PROXY` and the like.
  func isLeftOut(_ variable: String) -> Bool { staysOnThisMachine && variable.lowercased().hasSuffix("_proxy") }

  /// `name = "value"`. No value of ours holds a line end.
  private static func line(_ name: String, _ value: String) -> String {
    let escaped = value.unicodeScalars.map { $0 == "\\" || $0 == "\"" ? "\\\($0)" : String($0) }.joined()
    return "\(name) = \"\(escaped)\""
  }
}
