import FetchWire
import Foundation
import Logging

@testable import AgentRuntime

/// The helper that was built with these tests.
let builtRedirectHelper = HelperProcess.path("oauthd-redirect", beside: builtHelper)

/// One loop serves all of these tests: it lives as long as the process.
let redirectLoop = Result { try ServingLoop.start() }

func redirectReceiver(
  helper: String = builtRedirectHelper, limits: RedirectLimits = RedirectLimits(), closeGrace: LoopSpan = .seconds(2),
  uid: UInt32 = getuid(), logger: Logger = .silent
) throws -> HelperRedirectReceiver {
  HelperRedirectReceiver(
    helper: helper, limits: limits, closeGrace: closeGrace, uid: uid, loop: try redirectLoop.get(), logger: logger)
}
