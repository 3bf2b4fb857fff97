import CLinux
import Glibc

/// The exclusive lock that keeps a second agent off the vault: an open-file-description lock on `vault.lock`, held as
/// long as this object lives.
final class VaultLock {
  private let descriptor: FileDescriptor

  /// Takes the lock or throws `inUse` with what its holder wrote. The file is never removed: a lock on an unlinked file
  /// keeps nobody out.
  init(in directory: borrowing FileDescriptor, path: String, socketPath: String) throws(VaultError) {
    guard
      let descriptor = try PrivateFile.open(
        in: directory, VaultLocation.lockName, path, flags: O_RDWR | O_CREAT)
    else { throw .system("open", path) }
    guard clinux_try_lock_exclusive(descriptor.number) == 0 else {
      guard errno == EAGAIN || errno == EACCES else { throw .system("lock", path) }
      let holder = Holder(descriptor.readAll(limit: 8_192) ?? [])
      throw .inUse(pid: holder.pid, socket: holder.socket)
    }
    // Over the text of the holder before, cut only where that was longer. Emptied first, the file would lose its block on
    // the disk and need another: that takes ext4 half a millisecond, and on a full disk it may fail.
    let text = Holder(bootID: VaultLock.bootID(), pid: getpid(), socket: socketPath).encoded()
    guard let size = descriptor.status()?.st_size, size <= text.count || ftruncate(descriptor.number, text.count) == 0,
      descriptor.write(text, at: 0)
    else { throw .system("write", path) }
    self.descriptor = descriptor
  }

  deinit {
    // Closing is not enough: a child between fork and exec shares the description, and the lock with it.
    _ = clinux_unlock(descriptor.number)
  }

  /// Whether it is the lock of this folder.
  func isHeld(in directory: borrowing FileDescriptor) -> Bool {
    var named = stat()
    guard let own = descriptor.status(),
      fstatat(directory.number, VaultLocation.lockName, &named, AT_SYMLINK_NOFOLLOW) == 0
    else { return false }
    return own.st_dev == named.st_dev && own.st_ino == named.st_ino
  }

  private static func bootID() -> String {
    let number = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    guard number >= 0 else { return "unknown" }
    let descriptor = FileDescriptor(number)
    let text = String(decoding: descriptor.readAll(limit: 64) ?? [], as: UTF8.self)
    return text.last == "\n" ? String(text.dropLast()) : text
  }

  /// What the holder writes into the file: lines `boot-id …`, `pid …`, `socket …`.
  struct Holder: Equatable {
    var bootID: String
    var pid: Int32
    var socket: String?

    init(bootID: String, pid: Int32, socket: String?) {
      self.bootID = bootID
      self.pid = pid
      self.socket = socket
    }

    /// Reads what it can; the lock itself, not this text, says that there is a holder.
    init(_ bytes: [UInt8]) {
      self.init(bootID: "", pid: 0, socket: nil)
      for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
        let parts = line.split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else { continue }
        switch parts[0] {
        case "boot-id": bootID = String(parts[1])
        case "pid": pid = Int32(parts[1]).flatMap { $0 > 0 ? $0 : nil } ?? 0
        case "socket": socket = String(parts[1])
        default: continue
        }
      }
    }

    func encoded() -> [UInt8] {
      Array("boot-id \(bootID)\npid \(pid)\n\(socket.map { "socket \($0)\n" } ?? "")".utf8)
    }
  }
}
