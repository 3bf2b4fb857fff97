import CCurl
import FetchWire
import Glibc

/// Where a request goes, read by the parser that will connect: two parsers would sooner or later disagree about a host.
struct Target {
  let scheme: String
  let host: String

  /// Refuses user names in the URL, every scheme but `https`, and `http` to anything but loopback.
  init(_ url: String) throws(FetchFailure) {
    guard let handle = curl_url() else { throw FetchFailure(.helper, "oauthd-fetch got no memory") }
    defer { curl_url_cleanup(handle) }
    guard curl_url_set(handle, CURLUPART_URL, url, UInt32(CURLU_DISALLOW_USER)) == CURLUE_OK,
      let scheme = Self.part(CURLUPART_SCHEME, of: handle), let host = Self.part(CURLUPART_HOST, of: handle)
    else { throw FetchFailure(.malformed, "not a usable URL (a user name in it is refused)") }
    self.scheme = scheme
    self.host = host
    guard scheme == "https" || (scheme == "http" && Self.isLoopback(host)) else {
      throw FetchFailure(.malformed, "only https, or http on loopback (127.0.0.0/8, [::1], localhost), is allowed")
    }
  }

  /// `localhost` counts because libcurl never asks a name server for it.
  static func isLoopback(_ host: String) -> Bool {
    if host.lowercased() == "localhost" { return true }
    if host.hasPrefix("[") && host.hasSuffix("]") { return isLoopbackAddress(String(host.dropFirst().dropLast())) }
    return isLoopbackAddress(host)
  }

  /// Whether `address`, without brackets, is in 127.0.0.0/8 or is `::1`.
  static func isLoopbackAddress(_ address: String) -> Bool {
    var four = in_addr()
    if inet_pton(AF_INET, address, &four) == 1 { return UInt32(bigEndian: four.s_addr) >> 24 == 127 }
    var six = in6_addr()
    guard inet_pton(AF_INET6, address, &six) == 1 else { return false }
    return withUnsafeBytes(of: &six) { $0.dropLast().allSatisfy { $0 == 0 } && $0.last == 1 }
  }

  private static func part(_ part: CURLUPart, of handle: OpaquePointer) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard curl_url_get(handle, part, &text, 0) == CURLUE_OK, let text else { return nil }
    defer { curl_free(text) }
    return String(cString: text)
  }
}
