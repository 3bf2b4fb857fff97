import AgentWire

extension AccountCreation {
  /// `error` with a next step that needs nothing of what was taken back.
  func advising(_ error: CommandError, command: String, otherMethod: String?) -> CommandError {
    if case .agent(let failure, _) = error, failure.kind == .clientRejected {
      // The client is right, and may log in in another way.
      if failure.oauthError == "unauthorized_client", command.range(ofText: " --device") != nil {
        return error.advising(.run(command.replacingFirst(" --device", with: "") + "   # by browser"))
      }
      if let otherMethod {
        return error.advising(
          .run(
            "\(command)   # with the right client id and secret; some servers want --client-authentication \(otherMethod)"
          ))
      }
      // That none was given is the commonest reason, and no server says so.
      let mayHaveForgotten = failure.oauthError == "invalid_client" && command.range(ofText: " --client-id") != nil
      let step = mayHaveForgotten ? " --client-secret-stdin   # if the server gave this client a secret; else" : "   #"
      return error.advising(.run("\(command)\(step) with the right client id"))
    }
    if case .agent(let failure, _) = error, isByPassword, failure.oauthError == "invalid_grant" {
      return error.advising(.run("\(command)   # with the right --username and password"))
    }
    // The same options would end as these did.
    let silent = " --prompt none"
    if case .agent(let failure, _) = error, let code = failure.oauthError, command.range(ofText: silent) != nil,
      ["login_required", "interaction_required"].contains(code)
    {
      return error.advising(.run(command.replacingFirst(silent, with: "")))
    }
    if error.obstacleKey == "dpop", command.range(ofText: " --dpop") != nil {
      return error.advising(.run("\(command.replacingFirst(" --dpop", with: ""))   # tokens that are bound to no key"))
    }
    // The agent names the key of a file that is gone.
    if case .agent(let failure, _) = error, failure.oauthError == "invalid_scope" {
      return error.advising("run the command again with another --scope")
    }
    switch error.obstacleKey {
    // A port that somebody else has: there is no client to replace any more.
    case "redirect_uri":
      let option = command.range(ofText: " --redirect-uri") == nil ? "another --port" : "another port in --redirect-uri"
      return error.advising("run the command again with \(option), or when nothing uses that one any more")
    case _?: return error.advising("run the command again with other options")
    case nil: break
    }
    return error.advising(
      error.nextStep?.map { step in
        let step = step.replacingFirst("oauthctl secret set \(name) password && ", with: "")
        let short = "oauthctl login \(name)"
        // Said once.
        let isByDevice = command.range(ofText: " --device") != nil && step.range(ofText: short + " --device") != nil
        return step.replacingFirst(isByDevice ? short + " --device" : short, with: command)
          .replacingFirst(" --add-scope ", with: " --scope ")
      })
  }
}
