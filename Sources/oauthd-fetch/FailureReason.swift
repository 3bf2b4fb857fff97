import CCurl
import FetchWire

/// libcurl's result codes in the words of the wire.
enum FailureReason {
  struct Stage {
    var sent: Bool
    var usesProxy: Bool
    /// Whether the proxy opened the tunnel.
    var tunnelled: Bool
    /// A certificate is of the past or of the future, which time or a right clock mends.
    var isOutOfDate: Bool
    /// The certificate is trusted, and is for another name.
    var isOtherName: Bool
    /// What came from the other end is no TLS.
    var isPlain: Bool

    /// Until the tunnel stands, the other end is the proxy.
    var endsAtProxy: Bool { usesProxy && !tunnelled && !sent }
  }

  /// Whether a line of a head was longer than the 100 KiB that libcurl keeps of one. CURLE_TOO_LARGE (100) says so since
  /// 8.6; before, libcurl called it a lack of memory, of which there is enough for so little.
  static func isLineTooLong(_ code: CURLcode) -> Bool { code.rawValue == 100 || code == CURLE_OUT_OF_MEMORY }

  static func of(_ code: CURLcode, at stage: Stage) -> FetchFailure.Reason {
    switch code {
    case CURLE_OPERATION_TIMEDOUT: .timeout
    case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY: .proxy
    case CURLE_COULDNT_CONNECT, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING:
      stage.endsAtProxy ? .proxy : .connection
    case _ where isLineTooLong(code) && stage.endsAtProxy: .proxy
    case CURLE_PEER_FAILED_VERIFICATION where stage.endsAtProxy, CURLE_SSL_CONNECT_ERROR where stage.endsAtProxy: .proxy
    case CURLE_PARTIAL_FILE, CURLE_HTTP2, CURLE_HTTP2_STREAM: .connection
    case CURLE_COULDNT_RESOLVE_HOST: .nameResolution
    case CURLE_PEER_FAILED_VERIFICATION: stage.isOutOfDate ? .tls : stage.isOtherName ? .otherName : .untrusted
    case CURLE_SSL_CONNECT_ERROR: stage.isPlain ? .notTLS : .tls
    case CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_CERTPROBLEM,
      CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_INITFAILED,
      CURLE_SSL_CACERT_BADFILE, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR,
      CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT:
      .tls
    case CURLE_FILESIZE_EXCEEDED: .tooLarge
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT, CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP_RETURNED_ERROR,
      CURLE_BAD_CONTENT_ENCODING, CURLE_WRITE_ERROR:
      .malformed
    default: .helper
    }
  }
}
