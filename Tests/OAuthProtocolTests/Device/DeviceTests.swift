import HTTPTerms
import OAuthProtocol
import Sealing
import Testing

@Suite struct DeviceTests {
  private static let code = #""device_code":"dc","user_code":"WDJB-MJHT","verification_uri":"https://as.example/d""#

  private func authorization(_ more: String = "") throws -> DeviceAuthorization {
    let verdict = DeviceAuthorizationVerdict(judging: answer(200, "{\(Self.code)\(more)}"), now: 0)
    guard case .authorized(let authorization) = verdict else { throw Unexpected(text: "\(verdict)") }
    return authorization
  }

  private struct Unexpected: Error { var text: String }

  @Test("the request carries client, scope and extra parameters")
  func request() throws {
    var request = DeviceAuthorizationRequest(
      endpoint: try WebURL("https://as.example/device"), client: try OAuthClient(id: "app"), scope: ["a", "b"],
      extra: [ExtraParameter("x", "1")])
    #expect(try lines(request.httpRequest()) == ["scope=a b", "x=1", "client_id=app"])
    request.extra = [ExtraParameter("client_id", "other")]
    #expect(throws: ProtocolError.reservedParameter("client_id")) { try request.httpRequest() }
  }

  @Test(
    "lifetime and interval have their defaults and bounds (RFC 8628 §3.2)",
    arguments: [
      ("", 600, 5), (#","expires_in":1800,"interval":7"#, 1_800, 7), (#","expires_in":"900","interval":"3""#, 900, 3),
      (#","expires_in":0,"interval":0"#, 600, 5), (#","expires_in":-1,"interval":-5"#, 600, 5),
      (#","expires_in":99999999,"interval":99999"#, 3_600, 300),
      (#","expires_in":300,"interval":1e400"#, 300, 75), (#","expires_in":10,"interval":60"#, 10, 5),
      (#","expires_in":null,"interval":null"#, 600, 5),
    ])
  func bounds(more: String, expires: Int, interval: Int) throws {
    let authorization = try authorization(more)
    #expect(authorization.expiresInSeconds == expires)
    #expect(authorization.intervalSeconds == interval)
  }

  @Test("the complete URI is optional, and verification_url is understood")
  func uris() throws {
    #expect(try authorization().verificationURIComplete == nil)
    let complete = #","verification_uri_complete":"https://as.example/d?user_code=WDJB-MJHT""#
    #expect(try authorization(complete).verificationURIComplete?.query == "user_code=WDJB-MJHT")
    let same = ["d?code=wdjb%2Dmjht", "d/WDJBMJHT", "d/?user_code=WDJB+MJHT"].map { "https://as.example/" + $0 }
    for text in same {
      let more = #","verification_uri_complete":"\#(text)""#
      #expect(try authorization(more).verificationURIComplete?.text == text)
    }
    for elsewhere in [
      "javascript:x", "https://other.example/d?user_code=WDJB-MJHT", "https://as.example:444/d?user_code=WDJB-MJHT",
      "https://as.example/authorize?user_code=WDJB-MJHT", "https://as.example/dd?user_code=WDJB-MJHT",
      "https://as.example/d", "https://as.example/d?user_code=OTHR-CODE",
      "https://as.example/d?x=1WDJB-MJHT2", "https://as.example/d?a=b&user_code=WDJB-MJHT",
      "https://as.example/d?user_code=WDJB-MJHT&user_code=OTHR-CODE",
      "https://as.example/d/WDJBMJHT?user_code=OTHR-CODE",
    ] {
      let more = #","verification_uri_complete":"\#(elsewhere)""#
      #expect(try authorization(more).verificationURIComplete == nil, "\(elsewhere)")
    }
    let google = #"{"device_code":"d","user_code":"u","verification_url":"https://g.example/device"}"#
    guard case .authorized(let found) = DeviceAuthorizationVerdict(judging: answer(200, google), now: 0) else {
      Issue.record("refused")
      return
    }
    #expect(found.verificationURI.text == "https://g.example/device")
  }

  @Test(
    "a code is groups of letters and digits", arguments: ["WDJB-MJHT", "123 456 789", "a_b-c", "ABCD 1234 EF-GH 5"])
  func codes(text: String) throws {
    let body = #"{"device_code":"d","user_code":"\#(text)","verification_uri":"https://h/"}"#
    guard case .authorized(let found) = DeviceAuthorizationVerdict(judging: answer(200, body), now: 0) else {
      Issue.record("refused")
      return
    }
    #expect(found.userCode == text)
  }

  @Test(
    "an answer that a person could not act on is refused with its reason",
    arguments: [
      (200, "{}", "device_code"), (200, #"{"device_code":"d","verification_uri":"https://h/"}"#, "user_code"),
      (200, #"{"device_code":"d","user_code":"\u001b[2J","verification_uri":"https://h/"}"#, "user_code"),
      (
        200, #"{"device_code":"d","user_code":"Open https://evil.example","verification_uri":"https://h/"}"#,
        "user_code"
      ),
      (200, #"{"device_code":"d","user_code":"A;rm","verification_uri":"https://h/"}"#, "user_code"),
      (200, #"{"device_code":"d","user_code":"evil.example","verification_uri":"https://h/"}"#, "user_code"),
      (200, #"{"device_code":"d","user_code":"oauthctl logout tv","verification_uri":"https://h/"}"#, "user_code"),
      (200, #"{"device_code":"d","user_code":"to get on go there","verification_uri":"https://h/"}"#, "user_code"),
      (200, #"{"device_code":"d","user_code":"u"}"#, "verification_uri"),
      (200, #"{"device_code":"d","user_code":"u","verification_uri":"http://h/"}"#, "verification_uri"),
      (200, #"{"device_code":"d","user_code":"u","verification_uri":"javascript:alert(1)"}"#, "verification_uri"),
      (200, #"{"device_code":"d\n","user_code":"u","verification_uri":"https://h/"}"#, "device_code"),
      (200, #"{"device_code":"d","device_code":"e","user_code":"u","verification_uri":"https://h/"}"#, "twice"),
      (200, "<html>", "not a JSON object"), (200, "{", "cut off"), (404, "", "404"), (500, "{}", "500"),
      (400, "", "400"), (302, "", "302"), (400, #"{"error":"invalid_client"}"#, "invalid_client"),
      (400, #"{"error":"temporarily_unavailable"}"#, "try again later"),
      (200, #"{"error":"device_flow_disabled"}"#, "device_flow_disabled"),
    ])
  func refuses(status: Int, body: String, reason: String) {
    let verdict = DeviceAuthorizationVerdict(judging: answer(status, body), now: 0)
    if case .authorized = verdict { Issue.record("accepted") }
    #expect("\(verdict)".contains(reason))
  }

  private func time(_ step: DevicePolling.Step) -> Int64? {
    if case .poll(let time) = step { time } else { nil }
  }

  private func stop(_ step: DevicePolling.Step) -> DeviceStop? {
    if case .stopped(let stop) = step { stop } else { nil }
  }

  private let pending = #"{"error":"authorization_pending"}"#
  private let slower = #"{"error":"slow_down"}"#

  @Test("polls keep the interval, and slow_down lengthens it by 5 s for good (RFC 8628 §3.5)")
  func times() throws {
    var polling = DevicePolling(try authorization(#","expires_in":900,"interval":5"#), startedAtMilliseconds: 1_000)
    var next = try #require(time(polling.first(atMilliseconds: 1_200)))
    var times = [next]
    for body in [pending, slower, pending, slower, pending, pending] {
      next = try #require(time(polling.judge(judge(400, body), nowMilliseconds: next + 100)))
      times.append(next)
    }
    // Counted from each answer: 5, 5, then 10, 10, then 15, 15, 15 seconds.
    #expect(times == [6_200, 11_300, 21_400, 31_500, 46_600, 61_700, 76_800])
    #expect(polling.intervalMilliseconds == 15_000)
  }

  @Test("a new interval that the server names with slow_down holds when it is longer")
  func namedInterval() throws {
    var polling = DevicePolling(try authorization(), startedAtMilliseconds: 0)
    #expect(time(polling.judge(judge(200, #"{"error":"slow_down","interval":30}"#), nowMilliseconds: 0)) == 30_000)
    #expect(time(polling.judge(judge(200, #"{"error":"slow_down","interval":2}"#), nowMilliseconds: 0)) == 35_000)
  }

  @Test("time-outs double the pause, an answer ends that, and the pause has a limit")
  func timeouts() throws {
    var polling = DevicePolling(try authorization(#","expires_in":3600"#), startedAtMilliseconds: 0)
    let pauses = (0..<6).map { _ in time(polling.noAnswer(nowMilliseconds: 0)) }
    #expect(pauses == [10_000, 20_000, 40_000, 60_000, 60_000, 60_000])
    #expect(time(polling.judge(judge(400, pending), nowMilliseconds: 0)) == 5_000)
    #expect(time(polling.noAnswer(nowMilliseconds: 0)) == 10_000)
  }

  @Test("a server in trouble is asked later, as late as it says")
  func trouble() throws {
    var polling = DevicePolling(try authorization(#","expires_in":3600"#), startedAtMilliseconds: 0)
    #expect(time(polling.judge(judge(503, "", [HTTPField("Retry-After", "90")]), nowMilliseconds: 0)) == 90_000)
    #expect(time(polling.judge(judge(200, "<html>"), nowMilliseconds: 0)) == 20_000)
    #expect(time(polling.judge(judge(500, pending), nowMilliseconds: 0)) == 40_000)
  }

  @Test("no poll is sent at or after the end of the code")
  func deadline() throws {
    var polling = DevicePolling(try authorization(#","expires_in":12"#), startedAtMilliseconds: 0)
    #expect(time(polling.first(atMilliseconds: 0)) == 5_000)
    #expect(time(polling.judge(judge(400, pending), nowMilliseconds: 6_999)) == 11_999)
    #expect(stop(polling.judge(judge(400, pending), nowMilliseconds: 7_000)) == .expired)
    #expect(stop(polling.noAnswer(nowMilliseconds: 3_000)) == .expired)
  }

  @Test(
    "what ends the polling",
    arguments: [
      (400, #"{"error":"expired_token"}"#, .expired), (200, #"{"error":"token_expired"}"#, .expired),
      (400, #"{"error":"access_denied"}"#, .denied(OAuthError(code: "access_denied"))),
      (404, #"{"error":"device_not_found"}"#, .unknownCode),
      (400, #"{"error":"invalid_grant"}"#, .refused(OAuthError(code: "invalid_grant"))),
      (401, #"{"error":"invalid_client"}"#, .refused(OAuthError(code: "invalid_client"))),
      (400, "", .refusedWithoutReason(status: 400)),
    ] as [(Int, String, ExpectedStop)])
  func stops(status: Int, body: String, expected: ExpectedStop) throws {
    var polling = DevicePolling(try authorization(), startedAtMilliseconds: 0)
    #expect(stop(polling.judge(judge(status, body), nowMilliseconds: 0)) == expected.stop)
  }

  enum ExpectedStop: Sendable {
    case expired, unknownCode
    case denied(OAuthError?)
    case refused(OAuthError?)
    case refusedWithoutReason(status: Int)

    var stop: DeviceStop? {
      switch self {
      case .expired: .expired
      case .unknownCode: .unknownCode
      case .denied(let error): error.map(DeviceStop.denied)
      case .refused(let error): error.map(DeviceStop.refused)
      case .refusedWithoutReason(let status): .refusedWithoutReason(status: status)
      }
    }
  }

  @Test("a token ends the polling, a spoilt one too")
  func token() throws {
    var polling = DevicePolling(try authorization(), startedAtMilliseconds: 0)
    guard case .granted(let grant) = polling.judge(judge(200, #"{"access_token":"at"}"#), nowMilliseconds: 0) else {
      Issue.record("no grant")
      return
    }
    #expect(grant.accessToken == Secret("at"))
    guard case .stopped(.unusable) = polling.judge(judge(200, #"{"access_token":"a b"}"#), nowMilliseconds: 0) else {
      Issue.record("polls on")
      return
    }
  }
}
