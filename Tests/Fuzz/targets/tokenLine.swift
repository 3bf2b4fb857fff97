// The hand-written reader and the general one: what the first takes, the second takes, and says the same.

import AgentWire

/// libFuzzer calls this for every input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeRawBufferPointer(start: start, count: count)
  if let quick = TokenLine.scanRequest(bytes) {
    guard let slow = try? RequestLine(Array(bytes)), let parameters = try? slow.parameters(TokenGet.self) else {
      preconditionFailure("the quick reader takes what the general one refuses")
    }
    precondition(slow.id == quick.id && slow.method == .tokenGet)
    precondition(parameters.account.map { Array($0.utf8) } == quick.account.map { Array($0.utf8) })
    precondition(parameters.url.map { Array($0.utf8) } == quick.url.map { Array($0.utf8) })
    precondition(parameters.minValiditySeconds == quick.minValiditySeconds)
    let printed = TokenLine.printRequest(quick)
    let again = printed.withUnsafeBytes { TokenLine.scanRequest(UnsafeRawBufferPointer(rebasing: $0.dropLast())) }
    precondition(again == quick)
  }
  if let answer = TokenLine.scanAnswer(bytes) {
    for range in [answer.accessToken, answer.account, answer.accountID, answer.fingerprint, answer.tokenType] {
      precondition(range.lowerBound >= 0 && range.upperBound <= count)
    }
  }
  return 0
}
