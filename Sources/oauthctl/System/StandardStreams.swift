import Glibc

/// Descriptors 0 to 2, there before anything else is opened: a secret must never land in what a child takes for its
/// standard output because that was closed.
enum StandardStreams {
  static func open() {
    for number: Int32 in 0...2 where fcntl(number, F_GETFD) < 0 {
      // The lowest free number is the missing one.
      _ = Glibc.open("/dev/null", number == 0 ? O_RDONLY : O_WRONLY)
    }
  }
}
