import OAuthProtocol

/// The pages of the login: forms without script, without remote resources, every value escaped.
enum Page {
  private static func escape(_ text: String) -> String { HTMLText.escaped(text) }

  /// `body` is HTML already.
  static func response(_ status: Int = 200, title: String, body: String) -> DevResponse {
    let html = """
      <!DOCTYPE html>
      <html lang="en"><head><meta charset="utf-8"><title>\(escape(title))</title>
      <meta name="viewport" content="width=device-width">
      <style>body{font:16px/1.5 sans-serif;max-width:30em;margin:3em auto;padding:0 1em}label{display:block;margin:.6em 0}</style>
      </head><body><h1>\(escape(title))</h1>
      \(body)
      <p><small>Development authorization server: no password is checked, nothing here is secret.</small></p>
      </body></html>

      """
    return DevResponse(
      status: status,
      headers: [
        HTTPField("Content-Type", "text/html; charset=utf-8"),
        // No form-action: browsers apply it to the redirect back to the client, too.
        HTTPField("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"),
        HTTPField("Referrer-Policy", "no-referrer"),
        HTTPField("X-Content-Type-Options", "nosniff"),
      ] + DevResponse.noStore, body: Array(html.utf8))
  }

  static func problem(_ status: Int, _ message: String) -> DevResponse {
    response(status, title: "This cannot go on", body: "<p id=\"problem\">\(escape(message))</p>")
  }

  /// Asks who is there. `hidden` travels along; `fields` are shown before the name.
  static func login(
    action: String, hidden: [(String, String)], fields: String = "", username: String, problem: String? = nil
  ) -> DevResponse {
    response(
      problem == nil ? 200 : 403, title: "Log in",
      body: """
        \(problem.map { "<p id=\"problem\">\(escape($0))</p>" } ?? "")
        <form method="post" action="\(escape(action))">\(inputs(hidden))
        \(fields)
        <label>User name <input id="username" name="username" value="\(escape(username))" autofocus></label>
        <label>Password <input id="password" name="password" type="password"></label>
        <button id="login" type="submit">Log in</button></form>
        """)
  }

  static func consent(
    action: String, hidden: [(String, String)], clientID: String, subject: String, scope: [String]
  ) -> DevResponse {
    let items = scope.map { "<li>\(escape($0))</li>" }.joined()
    return response(
      title: "Allow access?",
      body: """
        <p><b id="client">\(escape(clientID))</b> asks for access as <b id="subject">\(escape(subject))</b>:</p>
        <ul id="scope">\(items)</ul>
        <form method="post" action="\(escape(action))">\(inputs(hidden))
        <button id="allow" name="decision" value="allow" type="submit">Allow</button>
        <button id="deny" name="decision" value="deny" type="submit">Deny</button></form>
        """)
  }

  private static func inputs(_ hidden: [(String, String)]) -> String {
    hidden.map { "<input type=\"hidden\" name=\"\(escape($0.0))\" value=\"\(escape($0.1))\">" }.joined()
  }
}
