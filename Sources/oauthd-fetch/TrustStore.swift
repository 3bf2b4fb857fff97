import Glibc

/// Whose certificates count.
enum TrustStore {
  /// Only those in the PEM text that came with the request.
  case text(Range<Int>)
  /// A folder of hashed names: OpenSSL opens the few files it needs, where a bundle is parsed whole (20 ms).
  case folder(String)
  /// What libcurl was built with.
  case libraryDefault

  private static let path = "/etc/ssl/certs"

  /// Authorities that an administrator has linked into the folder from where no distribution keeps them.
  static var filesElsewhere: [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var files: [String] = []
    var target = [CChar](repeating: 0, count: Int(PATH_MAX))
    while let entry = readdir(folder), files.count < 64 {
      guard entry.pointee.d_type == UInt8(DT_LNK) else { continue }
      let count = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { readlinkat(dirfd(folder), $0, &target, target.count) }
      }
      // Most are the names of others in the same folder, or lie where certificates of the distribution do.
      let isPath = target[..<max(count, 0)].contains(CChar(UInt8(ascii: "/")))
      guard count > 0, count < target.count, isPath else { continue }
      // A name that is no UTF-8 would be another one if it was repaired.
      guard let text = String(validating: target[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) else {
        continue
      }
      if text.hasPrefix("/usr/share/ca-certificates/") || text.hasPrefix("/etc/ssl/") { continue }
      files.append(text.hasPrefix("/") ? text : path + "/" + text)
    }
    return files
  }

  /// The distribution's folder when it is a hashed one.
  static var system: TrustStore {
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
