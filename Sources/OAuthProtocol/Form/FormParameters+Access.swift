extension FormParameters {
  /// What is asked for beside the grant itself, by a token or a device authorization request: nothing for what is empty.
  /// Throws ``ProtocolError`` for a reserved, repeated or malformed parameter, a malformed scope or resource.
  mutating func append(
    scope: [String], _ separator: ScopeSeparator, resources: [String], audiences: [String], extra: [ExtraParameter]
  ) throws(ProtocolError) {
    try ExtraParameters.checkForToken(extra)
    try RequestedAccess.checkScope(scope)
    try RequestedAccess.checkResources(resources)
    if !scope.isEmpty { append("scope", separator.joined(scope)) }
    for resource in resources { append("resource", resource) }
    for audience in audiences { append("audience", audience) }
    for parameter in extra { append(parameter.name, parameter.value) }
  }
}
