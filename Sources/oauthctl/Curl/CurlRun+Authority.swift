import AgentWire
import CLinux
import Glibc
import HTTPTerms
import HelperFormats

/// Whom curl believes.
extension CurlRun {
  /// `token`, or one of the same login that came since, with the authority of that login.
  func withAuthority(
    _ token: HelperToken, _ urls: [CurlURL]
  ) throws(CommandError) -> (HelperToken, authority: Int32?) {
    guard urls.allSatisfy({ $0.origin.scheme == .https }),
      invocation.arguments.first(of: CurlOptionEffects.sayTrust) == nil, let login = token.authority,
      let text = try authority(of: login, token.account, urls)
    else { return (token, nil) }
    // The file may have been read for a while.
    let now = try self.token(request(account: token.account, for: own.anyHost ? [] : urls), urls)
    guard now.authority == login else { throw .changedMeanwhile(token.account, status: 125) }
    let descriptor = clinux_memfd_create("authority", 1)
    guard descriptor >= 0, FileBytes.writeAll(Array(text.utf8), to: descriptor), clinux_seal(descriptor) == 0 else {
      throw .local("the account's authority cannot be kept: \(FileBytes.errorText())", status: 125)
    }
    return (now, descriptor)
  }

  /// The certificates that `login` believes where the URLs are its server's, PEM text; nil: they are others'. An account's file
  /// that was changed since does not take them away: then nobody else is believed in their place.
  ///
  /// The agent has compared what curl gets here: the file itself could be another one when curl opens it.
  ///
  /// - Throws: `definition_changed` when the file does not hold what the login is bound to.
  private func authority(
    of login: LoginAuthority, _ account: String, _ urls: [CurlURL]
  ) throws(CommandError) -> String? {
    guard case let bound = urls.filter({ PrivateAuthority.counts(for: $0.origin.host, of: login) }),
      let first = bound.first
    else { return nil }
    guard bound.count == urls.count else {
      throw .local(
        "the authority of \(account) (ca_file) is for \(first.origin) alone, and curl believes the same one for all URLs",
        next: "call oauthctl curl once for each host", status: 125)
    }
    let details = try context.agent.ask(AccountShow(account: account, withAuthority: true), about: account)
    // It may be logged in elsewhere since.
    guard let text = details.authority, GitAuthority.digest(Array(text.utf8)) == login.digest else {
      throw .changedMeanwhile(account, status: 125)
    }
    return text
  }
}
