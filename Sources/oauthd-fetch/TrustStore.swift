import Glibc

/// Whose certificates count.
enum TrustStore {
  /// Only those in this PEM file.
  case file(String)
  /// A folder of hashed names: OpenSSL opens the few files it needs, where a bundle is parsed whole (20 ms).
  case folder(String)
  /// What libcurl was built with.
  case libraryDefault

  /// The distribution's folder when it is a hashed one.
  static var system: TrustStore {
    let path = "/etc/ssl/certs"
    guard let folder = opendir(path) else { return .libraryDefault }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      let hashed = withUnsafeBytes(of: entry.pointee.d_name) { name in
        // Eight hexadecimal digits, a dot, a number.
        name[8] == UInt8(ascii: ".") && name[9] == UInt8(ascii: "0") && name[10] == 0
      }
      if hashed { return .folder(path) }
    }
    return .libraryDefault
  }
}
