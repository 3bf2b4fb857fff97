import Dispatch
import OAuthProtocol
import Sealing
import Synchronization
import Testing

@testable import AgentRuntime

@Suite("A private authority, when a request is sent")
struct AuthorityFilesTests {
  private static let agreed = Array("-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n".utf8)
  private static let key = Array("-----BEGIN PRIVATE KEY-----\nYQ==\n-----END PRIVATE KEY-----\n".utf8)
  private static let named = NamedAuthority(file: "/ca.pem", digest: Hex.encode(Digest.sha256(agreed)))

  private func named() throws -> NamedAuthority { try #require(Self.named) }

  @Test("What is compared is what is given: a file that changes between two readings is given once, or not at all")
  func compared() async throws {
    let readings = Mutex(0)
    let files = AuthorityFiles { path in
      #expect(path == "/ca.pem")
      return .success(
        readings.withLock { count in
          count += 1
          return count == 1 ? Self.agreed : Array("another".utf8)
        })
    }
    #expect(try await files.content(named()).get() == Self.agreed)
    await #expect(
      throws: HTTPFailure(
        .authority, "its ca_file /ca.pem is no longer the one that was agreed to; nothing was sent")
    ) { try await files.content(named()).get() }
    #expect(readings.withLock { $0 } == 2, "each content is of one reading")
  }

  @Test("A file that is not there, is empty, or that nobody has agreed to, is not used, and the failure says why")
  func unusable() async throws {
    let cases: [(Result<[UInt8], TrustedFile.Failure>, NamedAuthority?, String)] = [
      (.failure(.missing), Self.named, "does not exist"),
      (.failure(.refused("is not a regular file")), Self.named, "is not a regular file"),
      (.success([]), NamedAuthority(file: "/ca.pem", digest: Hex.encode(Digest.sha256([]))), "is empty"),
      (.success(Self.agreed), NamedAuthority(file: "/ca.pem", digest: nil), "agreed to"),
      (
        .success(Self.key), NamedAuthority(file: "/ca.pem", digest: Hex.encode(Digest.sha256(Self.key))),
        "holds no certificate"
      ),
    ]
    for (content, authority, words) in cases {
      let files = AuthorityFiles { _ in content }
      guard case .failure(let failure) = await files.content(try #require(authority)) else {
        Issue.record("used, though it \(words)")
        continue
      }
      #expect(failure.reason == .authority && failure.message.contains(words), "\(failure)")
    }
  }

  @Test(
    "A file system that hangs keeps nobody waiting, holds one thread for each path, and is asked again when it goes on")
  func hangs() async throws {
    let gate = DispatchSemaphore(value: 0)
    let readings = Atomic<Int>(0)
    let files = AuthorityFiles(patience: .milliseconds(50)) { _ in
      readings.add(1, ordering: .relaxed)
      gate.wait()
      gate.signal()
      return .success(Self.agreed)
    }
    for _ in 0..<3 {
      await #expect(throws: HTTPFailure(.helper, "its ca_file /ca.pem cannot be read in time")) {
        try await files.content(named()).get()
      }
    }
    #expect(readings.load(ordering: .relaxed) == 1)
    gate.signal()
    while (try? await files.content(named()).get()) != Self.agreed {}
  }
}
