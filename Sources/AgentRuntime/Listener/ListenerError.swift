import AgentWire
import Glibc

/// Why the agent's socket cannot be opened.
package enum ListenerError: Error, Sendable, Equatable {
  /// Another agent answers there.
  case alreadyServed(path: String)
  /// Another agent is opening its socket there at this moment.
  case beingOpened(path: String)
  /// The directory is not safe; `reason` completes a sentence that begins with its path.
  case unsafeDirectory(path: String, reason: String)
  /// Something that is no socket of ours stands at the path.
  case occupied(path: String)
  case pathTooLong(path: String, limitBytes: Int)
  /// An inherited descriptor is no listening Unix stream socket; `reason` completes "descriptor N ".
  case unsuitableDescriptor(Int32, reason: String)
  /// LISTEN_FDS or its companions cannot be read.
  case malformedEnvironment(String)
  case failed(call: String, path: String, errno: Int32)
}

extension ListenerError: CustomStringConvertible {
  /// One sentence with the cause and, where there is one, the next step.
  package var description: String {
    switch self {
    case .alreadyServed(let path): "another agent already answers at \(shown(path)); stop it first"
    case .beingOpened(let path): "another agent is opening \(shown(path)) right now; try again"
    case .unsafeDirectory(let path, let reason):
      "the socket's directory \(shown(path)) \(reason); make it a directory of your own with mode 0700"
    case .occupied(let path): "\(shown(path)) is there and is no socket of yours; move it away"
    case .pathTooLong(let path, let limit):
      "the socket's path has \(path.utf8.count) bytes, more than \(limit); set OAUTHCTL_SOCKET to a shorter one"
    case .unsuitableDescriptor(let descriptor, let reason): "the inherited descriptor \(descriptor) \(reason)"
    case .malformedEnvironment(let reason):
      "the inherited sockets are not described as sd_listen_fds(3) wants: \(reason)"
    case .failed(let call, let path, let code):
      "\(call) failed for \(shown(path)): \(String(cString: strerror(code)))"
    }
  }

  private func shown(_ path: String) -> String { PrintableText.escaped(path) }
}
