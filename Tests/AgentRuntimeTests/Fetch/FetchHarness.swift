import FetchWire
import Foundation
import OAuthProtocol
import Sealing
import Testing

@testable import AgentRuntime

/// The helper that was built with these tests.
let builtHelper: String = {
  let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
  return tests.deletingLastPathComponent().appendingPathComponent("oauthd-fetch").path
}()

let fetch = FetchProcess(helper: builtHelper, userAgent: "oauthd/test")

func post(_ url: String, _ body: String = "grant_type=refresh_token&refresh_token=RT", headers: [HTTPField] = [])
  -> HTTPRequest
{
  HTTPRequest(
    .post, url, headers: [HTTPField("Content-Type", "application/x-www-form-urlencoded")] + headers, body: Secret(body))
}

/// Returns when no process of `transport` is left: an answer is told before.
func untilGone(_ transport: FetchProcess) async {
  while transport.runningCount > 0 { await Task.yield() }
}

/// An outcome without its texts, as tables name it.
enum Verdict: Equatable, Sendable, CustomStringConvertible {
  case notSent(HTTPFailure.Reason)
  case sentNoAnswer(HTTPFailure.Reason)
  case answered(Int)

  init(_ outcome: HTTPOutcome) {
    switch outcome {
    case .notSent(let failure): self = .notSent(failure.reason)
    case .sentNoAnswer(let failure): self = .sentNoAnswer(failure.reason)
    case .answered(let answer): self = .answered(answer.status)
    }
  }

  var description: String {
    switch self {
    case .notSent(let reason): "notSent(\(reason.rawValue))"
    case .sentNoAnswer(let reason): "sentNoAnswer(\(reason.rawValue))"
    case .answered(let status): "answered(\(status))"
    }
  }
}

extension HTTPOutcome {
  var answer: HTTPAnswer? { if case .answered(let answer) = self { answer } else { nil } }
  var failure: HTTPFailure? {
    switch self {
    case .notSent(let failure), .sentNoAnswer(let failure): failure
    case .answered: nil
    }
  }
}

/// Runs a program to its end on a thread of its own; its exit status.
func runTool(_ path: String, _ arguments: [String], in folder: URL) async throws -> Int32 {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: path)
  process.arguments = arguments
  process.currentDirectoryURL = folder
  process.standardInput = FileHandle.nullDevice
  process.standardOutput = FileHandle.nullDevice
  process.standardError = FileHandle.nullDevice
  return try await withCheckedThrowingContinuation { continuation in
    process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
    do { try process.run() } catch { continuation.resume(throwing: error) }
  }
}
