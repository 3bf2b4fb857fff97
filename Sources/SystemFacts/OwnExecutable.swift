import Glibc

/// The program that this process runs.
package enum OwnExecutable {
  /// Its path; nil where the system does not tell, or tells only a part of it.
  package static var path: String? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    guard count > 0, count < buffer.count else { return nil }
    return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
