import CLinux
import FetchWire
import Glibc

/// What this process takes away from itself, between the agent's request and the first byte of a network.
enum Confinement {
  /// Throws where the kernel refuses what must be had; the lack of Landlock is no failure (docs/threat-model.md).
  static func enter(for request: FetchRequest) throws(FetchFailure) {
    let files = request.hasAuthority ? [] : TrustStore.filesElsewhere
    let paths: [UnsafePointer<CChar>?] = files.map { UnsafePointer(strdup($0)) }
    defer { for path in paths { free(UnsafeMutablePointer(mutating: path)) } }
    let result = paths.withUnsafeBufferPointer { paths in
      clinux_confine(paths.baseAddress, paths.count, needsUnixSockets(request) ? 1 : 0)
    }
    guard result >= 0 else {
      throw FetchFailure(.helper, "oauthd-fetch could not restrict itself: \(String(cString: strerror(errno)))")
    }
  }

  /// Names below `.local` are asked of a daemon, through a Unix socket (nss-mdns). Other names are found without: nscd and
  /// nss-resolve, which would be asked that way, are passed over for the name servers of `resolv.conf`.
  static func needsUnixSockets(_ request: FetchRequest) -> Bool {
    guard let host = try? Target(request.url).host else { return false }
    return isMulticastName(host) || request.proxy.map(namesMulticast) ?? false
  }

  /// Whether some name in a proxy's URL may be one; one that only contains `.local` may use the socket for nothing.
  private static func namesMulticast(_ url: String) -> Bool {
    let url = url.lowercased().utf8
    return url.indices.contains { url[$0...].starts(with: ".local".utf8) }
  }

  private static func isMulticastName(_ host: String) -> Bool {
    let host = host.lowercased()
    return host.hasSuffix(".local") || host.hasSuffix(".local.")
  }
}
