import CLinux

/// Tells file systems that are gone after a restart of the machine.
package enum MemoryFileSystem {
  /// Whether `path` is on one; false also where that cannot be told.
  package static func holds(_ path: String) -> Bool { isOne(type: clinux_filesystem_type(path)) }

  /// By statfs's `f_type` (the magic numbers of linux/magic.h): tmpfs and ramfs.
  package static func isOne(type: Int) -> Bool {
    [0x0102_1994, 0x8584_58F6].contains(UInt32(truncatingIfNeeded: type))
  }
}
