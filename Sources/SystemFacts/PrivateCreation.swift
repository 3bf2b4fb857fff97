import Glibc

/// Makes files and folders that are their user's alone, under any umask(2): that of a shell may take rights from the user
/// himself, and a file that he cannot read is lost to him.
package enum PrivateCreation {
  /// mkdir(2) with mode 0700. Returns what that returns, with its errno.
  package static func makeFolder(_ path: String) -> Int32 { withOwnMask { mkdir(path, 0o700) } }

  /// open(2) with `flags`, O_CREAT and mode 0600. Returns what that returns, with its errno.
  package static func openFile(_ path: String, _ flags: Int32) -> Int32 {
    withOwnMask { open(path, flags | O_CREAT, 0o600) }
  }

  /// The umask is the whole process's: `make` is one call that returns at once.
  package static func withOwnMask(_ make: () -> Int32) -> Int32 {
    let shells = umask(0o077)
    defer { umask(shells) }
    return make()
  }
}
