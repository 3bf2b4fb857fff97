import DevAuthorizationServer
import Glibc

/// The one engine of the program; requests take turns.
actor EngineHost {
  private var engine: DevAuthorizationServer

  init(_ options: DevServerOptions) {
    engine = DevAuthorizationServer(options)
  }

  /// Known once the port is.
  func setIssuer(_ issuer: String) { engine.options.issuer = issuer }

  func respond(to request: DevRequest) -> DevResponse { engine.respond(to: request, at: EngineHost.now()) }

  func admit(git request: DevRequest) -> GitAdmission { engine.admit(git: request, at: EngineHost.now()) }

  /// Unix seconds.
  private static func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000
  }
}
