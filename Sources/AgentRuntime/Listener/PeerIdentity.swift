import CLinux

/// Who connected, as the kernel tells it (SO_PEERCRED).
package struct PeerIdentity: Sendable, Equatable {
  package var uid: UInt32
  package var pid: Int32

  package init(uid: UInt32, pid: Int32) {
    self.uid = uid
    self.pid = pid
  }

  /// The peer of a connected Unix socket, or nil when the kernel does not tell.
  package static func of(_ descriptor: Int32) -> PeerIdentity? {
    var (uid, group, pid) = (UInt32(0), UInt32(0), Int32(0))
    guard clinux_peer_credentials(descriptor, &uid, &group, &pid) == 0 else { return nil }
    return PeerIdentity(uid: uid, pid: pid)
  }
}
