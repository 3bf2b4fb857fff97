/// The program that this process runs.
package enum OwnExecutable {
  /// Its path; nil where the system does not tell, tells only a part of it, or one that is no UTF-8.
  package static var path: String? {
    if case .target(let path) = SymbolicLink(at: "/proc/self/exe") { path } else { nil }
  }

  /// Why there is no ``path``.
  package static let pathProblem = "/proc/self/exe cannot be read, or leads through a name that is no UTF-8"
}
