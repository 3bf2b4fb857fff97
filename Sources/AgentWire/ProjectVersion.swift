/// The version that every program of this project tells.
package enum ProjectVersion {
  package static let current = "0.1.0"
}
