/// Tells file systems shared over a network, where another machine's agent would not see our lock: what the vault
/// refuses, and the doctor tells.
package enum NetworkFileSystem {
  /// Its name, from statfs's `f_type` (the magic numbers of linux/magic.h), or nil. FUSE is let pass: encrypted homes
  /// use it as well as sshfs.
  package static func name(ofType type: Int) -> String? {
    // f_type is signed on some architectures: compare its low 32 bits.
    switch UInt32(truncatingIfNeeded: type) {
    case 0x6969: "NFS"
    case 0x517B, 0xFE53_4D42, 0xFF53_4D42: "SMB"
    case 0x5346_414F, 0x6B41_4653: "AFS"
    case 0x7375_7245: "Coda"
    case 0x0102_1997: "9P"
    case 0x00C3_6400: "Ceph"
    case 0x0BD0_0BD0: "Lustre"
    case 0x4750_4653: "GPFS"
    case 0x1983_0326: "BeeGFS"
    case 0x0116_1970: "GFS2"
    case 0x7461_636F: "OCFS2"
    case 0x564C: "NCP"
    default: nil
    }
  }
}
