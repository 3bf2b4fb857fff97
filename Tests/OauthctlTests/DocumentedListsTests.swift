import AgentWire
import OAuthTerms
import Testing

@testable import oauthctl

@Suite("The tables of the documents are the lists of the source")
struct DocumentedListsTests {
  @Test("Each failure has its code, whether it may pass by itself, whether it needs a person, and its exit status")
  func failures() throws {
    let rows = try table("docs/protocol.md", "| failure |").map { Array($0.prefix(5)) }
    func word(_ flag: Bool) -> String { flag ? "yes" : "no" }
    #expect(
      rows
        == FailureKind.allCases.map {
          ["`\($0.rawValue)`", "\($0.code)", word($0.isRetryable), word($0.needsInteraction), "\($0.exitStatus)"]
        })
  }

  @Test("Each method says whether it may be sent again")
  func methods() throws {
    let rows = try table("docs/protocol.md", "| method |").map { Array($0.prefix(2)) }
    #expect(rows == Method.allCases.map { ["`\($0.rawValue)`", $0.isRepeatable ? "yes" : "no"] })
  }

  @Test("Each grant is described with what it needs and who gives it")
  func grants() throws {
    let rows = try table("docs/configuration.md", "| grant |")
    #expect(
      rows
        == GrantKind.allCases.map { grant in
          let terms = grant.terms
          let giver =
            switch terms.giver {
            case .browser: "a browser"
            case .device: "a code typed at any device"
            case .nobody: "nobody"
            }
          return [
            "`\(grant.rawValue)`", terms.otherNames.map { "`\($0)`" }.joined(separator: ", "),
            terms.type.map { "`\($0)`" } ?? "as the file says", giver,
            terms.need?.words ?? "nothing", terms.bringsRefreshToken ? "yes" : "no", terms.standard,
          ]
        })
  }

  @Test("The keys of an account name every grant and every way to authenticate a client, and the default")
  func keys() throws {
    let rows = try table("docs/configuration.md", "| key |")
    let grant = try #require(rows.first { $0.first == "`grant`" })
    #expect(grant[1] == choice(GrantKind.names) && grant[2] == "`\(GrantKind.standard.rawValue)`")
    let authentication = try #require(rows.first { $0.first == "`client_authentication`" })
    #expect(authentication[1] == choice(ClientAuthenticationMethod.names))
  }

  private func choice(_ names: [String]) -> String {
    let quoted = names.map { "`\($0)`" }
    return quoted.dropLast().joined(separator: ", ") + " or " + (quoted.last ?? "")
  }

  /// The cells of the first table of `page` that begins with `header`.
  private func table(_ page: String, _ header: String) throws -> [[String]] {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let text = String(decoding: try #require(FileBytes.contents(of: "/\(root)/\(page)")), as: UTF8.self)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let start = try #require(lines.firstIndex { $0.hasPrefix(header) }, "\(page) has no table \(header)")
    return lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map { line in
      line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast().map { cell in
        String(cell.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
      }
    }
  }
}
