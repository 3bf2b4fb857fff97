import FoundationEssentials
import Testing

@testable import HelperFormats

/// What a git wrote, step by step, and what it was told.
struct GitConversation: Codable, CustomTestStringConvertible {
  struct Step: Codable {
    var op: String
    var input: String
    var output: String
  }

  /// As `git --version` had it.
  var git: String
  var conversation: String
  var steps: [Step]

  var testDescription: String { "\(conversation), git \(git)" }

  static let all: [GitConversation] = {
    let folder = #filePath.split(separator: "/").dropLast().joined(separator: "/")
    guard let data = FileManager.default.contents(atPath: "/\(folder)/Vectors/git.jsonl") else { return [] }
    return data.split(separator: UInt8(ascii: "\n")).compactMap {
      try? JSONDecoder().decode(GitConversation.self, from: Data($0))
    }
  }()
}

/// Three tokens; naming the current one as refused brings the next.
private struct TokenSource {
  private let letters = ["a", "b", "c"]
  private var current = 0

  mutating func answer(_ question: HelperQuestion) -> HelperToken {
    if question.rejected == token.fingerprint, current + 1 < letters.count { current += 1 }
    return token
  }

  var token: HelperToken {
    let name = String(repeating: letters[current], count: 32)
    return .init(
      accessToken: "tok-" + name, tokenType: "Bearer", expiresAt: 4_102_444_800 + current,
      fingerprint: "sha256:" + name, username: "oauth2", account: "work")
  }
}

@Suite("Recorded conversations with git")
struct GitConversationTests {
  @Test("the file of conversations is read whole")
  func fileIsRead() {
    #expect(GitConversation.all.count == 26)
    #expect(Set(GitConversation.all.map(\.git)) == ["2.39.5", "2.55.GIT"])
  }

  @Test("go as they were recorded", arguments: GitConversation.all)
  func replay(_ example: GitConversation) throws {
    var source = TokenSource()
    for step in example.steps {
      let request = try GitCredentialRequest(Array(step.input.utf8))
      switch GitOperation(step.op) {
      case .get:
        let lookup = try #require(GitLookup(request))
        if example.conversation == "a login is needed" {
          #expect(lookup.answer(.needsPerson("login needed")).output == step.output)
          continue
        }
        var token = source.answer(lookup.question)
        let second = lookup.secondQuestion(after: token)
        if let second { token = source.answer(second) }
        #expect(try lookup.answer(token, isSecond: second != nil).output == step.output)
      case .erase:
        let isLast = request.states.contains { $0.hasPrefix("oauthctl:2:last:") }
        #expect(GitOperation.rejected(request)?.token == (isLast ? nil : source.token.accessToken))
        #expect(step.output.isEmpty)
      case .store:
        #expect(step.output.isEmpty)
      case .capability, nil:
        Issue.record("\(step.op)")
      }
    }
  }

  @Test("no conversation asks for more than three tokens, or goes on for ever")
  func bounded() {
    for example in GitConversation.all { #expect(example.steps.filter { $0.op == "get" }.count <= 3) }
  }
}
