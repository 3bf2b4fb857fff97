import CCurl
import FetchWire
import Glibc
import SystemFacts

/// One libcurl transfer and everything its callbacks touch.
///
/// The `sent` stage is reported from inside libcurl: for a request with a body when libcurl asks for the first body
/// byte (name, connection, proxy, TLS and request head are then behind it), for one without when it is about to write
/// the request head. A report that cannot be written stops the transfer: then nothing was sent.
final class Transfer {
  let request: FetchRequest
  let target: Target
  let input: FetchBuffer
  let bodyRange: Range<Int>
  let trust: TrustStore
  let certificate: Range<Int>?
  let handle: UnsafeMutableRawPointer
  private let answerBody: FetchBuffer
  private var head = AnswerHead()
  private var bodyOffset = 0
  private(set) var sent = false
  private var overflow: String?
  private var overdue: String?
  private var network: NetworkRule
  private var result = CURLE_OK
  private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

  init(_ parts: FetchRequestReader.Parts, in input: FetchBuffer) throws(FetchFailure) {
    let request = parts.request
    guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK, let handle = curl_easy_init(),
      let answerBody = FetchBuffer(capacity: request.answerBodyLimit)
    else { throw FetchFailure(.helper, "libcurl could not be started") }
    self.request = request
    self.target = try Target(request.url)
    self.network = NetworkRule(isPublicOnly: request.isPublicOnly)
    self.input = input
    self.bodyRange = parts.body
    self.trust = parts.authority.map(TrustStore.text) ?? .system
    self.certificate = parts.certificate
    self.handle = handle
    self.answerBody = answerBody
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    guard network.admits(host: target.host) else { throw network.failure(target.host) }
    do {
      try configure()
    } catch {
      throw FetchFailure(.helper, "libcurl refused an option: \(String(cString: curl_easy_strerror(error.code)))")
    }
  }

  /// Blocks until the exchange has ended one way or the other.
  ///
  /// libcurl's own limit for the whole exchange is not used: it looks at the clock before it reads, so that a process that
  /// was stopped would throw away the answer that came meanwhile. Nothing is cleaned up: the process ends with it.
  func perform() {
    guard let multi = curl_multi_init(), curl_multi_add_handle(multi, handle) == CURLM_OK else {
      return result = CURLE_OUT_OF_MEMORY
    }
    var patience = ExchangeTimeout(milliseconds: request.timeoutMilliseconds, .helper, at: BootClock.milliseconds())
    while true {
      var running: Int32 = 0
      guard curl_multi_perform(multi, &running) == CURLM_OK else { return result = CURLE_OUT_OF_MEMORY }
      if running == 0 { break }
      if patience.isOver {
        overdue = "timed out: no whole answer within \(request.timeoutMilliseconds) ms"
        return result = CURLE_OPERATION_TIMEDOUT
      }
      curl_multi_poll(multi, nil, 0, Int32(patience.nextWaitMilliseconds), nil)
      patience.look(at: BootClock.milliseconds())
    }
    var left: Int32 = 0
    guard let message = curl_multi_info_read(multi, &left), message.pointee.msg == CURLMSG_DONE else {
      return result = CURLE_OUT_OF_MEMORY
    }
    result = message.pointee.data.result
  }

  /// Tells the agent.
  func report() {
    let status = ccurl_get_long(handle, CURLINFO_RESPONSE_CODE)
    guard result == CURLE_OK else {
      // What came may be the only copy of a token, which only a POST asks for.
      let isWorthTelling = sent && request.method == .post && head.complete && answerBody.count > 0
      guard isWorthTelling, (200..<300).contains(status) else { return Report.failure(failure()) }
      return report(status, cut: failure())
    }
    guard (100...999).contains(status) else {
      return Report.failure(FetchFailure(.malformed, "the server's answer has no status"))
    }
    // libcurl calls a connection that ends inside the head a success without a body.
    guard head.complete else {
      return Report.failure(FetchFailure(.connection, "the server closed the connection inside the head of its answer"))
    }
    report(status)
  }

  private func report(_ status: Int, cut: FetchFailure? = nil) {
    Report.answer(
      status: status, isFromPublicAddress: network.isPublic, headers: head.fields, body: answerBody, cut: cut)
  }

  func wipe() { answerBody.wipe() }

  private func failure() -> FetchFailure {
    if let overflow { return FetchFailure(.tooLarge, overflow) }
    if sent, FailureReason.isLineTooLong(result) { return FetchFailure(.tooLarge, Self.headTooLarge) }
    if result == CURLE_COULDNT_CONNECT, network.hasRefusedAll { return network.failure(target.host) }
    let text = overdue ?? String(cString: errorText[0] == 0 ? curl_easy_strerror(result) : UnsafePointer(errorText))
    let connectCode = ccurl_get_long(handle, CURLINFO_HTTP_CONNECTCODE)
    let verified = [CURLINFO_SSL_VERIFYRESULT, CURLINFO_PROXY_SSL_VERIFYRESULT].map { ccurl_get_long(handle, $0) }
    let stage = FailureReason.Stage(
      sent: sent, usesProxy: usesProxy, tunnelled: connectCode == 200,
      isOutOfDate: CertificateDates.areRefused(verifyResults: verified),
      isOtherName: CertificateName.isRefused(in: text),
      isPlain: OpenSSLReason(in: text) == .wrongVersionNumber)
    if !head.hasBegun, !stage.endsAtProxy,
      let refusal = ClientCertificateRefusal.told(text, wasShown: certificate != nil)
    {
      return FetchFailure(.clientCertificate, refusal)
    }
    let hint = CertificateDates.hint(verifyResults: verified, now: time(nil))
    let isProxys = stage.endsAtProxy && [CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR].contains(result)
    return FetchFailure(FailureReason.of(result, at: stage), (isProxys ? "the proxy: " : "") + text + hint)
  }

  /// Plain http is loopback only; what goes there must not travel to a proxy.
  var usesProxy: Bool { request.proxy != nil && target.scheme == "https" }

  // MARK: Options

  struct OptionRefused: Error { let code: CURLcode }

  private func configure() throws(OptionRefused) {
    try text(CURLOPT_URL, request.url)
    try text(CURLOPT_PROTOCOLS_STR, target.scheme)
    try number(CURLOPT_FOLLOWLOCATION, 0)
    try number(CURLOPT_PATH_AS_IS, 1)
    try number(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    try number(CURLOPT_HTTP09_ALLOWED, 0)
    // Never a connection that was used before: libcurl repeats a request when such a one turns out dead.
    try number(CURLOPT_FRESH_CONNECT, 1)
    try number(CURLOPT_FORBID_REUSE, 1)
    try number(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
    try number(CURLOPT_NOSIGNAL, 1)
    try number(CURLOPT_QUICK_EXIT, 1)
    try number(CURLOPT_CONNECTTIMEOUT_MS, request.connectTimeoutMilliseconds)
    try offset(CURLOPT_MAXFILESIZE_LARGE, request.answerBodyLimit)
    try pointer(CURLOPT_ERRORBUFFER, errorText)
    try configureProxy()
    try configureTLS()
    try configureHeaders()
    try configureCallbacks()
  }

  private func configureCallbacks() throws(OptionRefused) {
    let context = Unmanaged.passUnretained(self).toOpaque()
    for option in [CURLOPT_READDATA, CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_XFERINFODATA, CURLOPT_PREREQDATA] {
      try pointer(option, context)
    }
    // A proxy's own address is the user's word, and what it connects to is not known here.
    if !usesProxy {
      try pointer(CURLOPT_OPENSOCKETDATA, context)
      try check(
        ccurl_set_socket_callback(handle) { context, _, address in
          guard let address, Transfer.from(context)?.network.admits(ccurl_socket_address(address)) == true else {
            return CURL_SOCKET_BAD
          }
          return socket(address.pointee.family, address.pointee.socktype, address.pointee.protocol)
        })
    }
    try check(
      ccurl_set_data_callback(handle, CURLOPT_READFUNCTION) { Transfer.from($3)?.lend($0, $1 * $2) ?? Transfer.abort })
    try check(
      ccurl_set_data_callback(handle, CURLOPT_WRITEFUNCTION) {
        Transfer.from($3)?.take(UnsafeRawBufferPointer(start: $0, count: $1 * $2)) ?? 0
      })
    try check(
      ccurl_set_data_callback(handle, CURLOPT_HEADERFUNCTION) {
        Transfer.from($3)?.takeHeader(UnsafeRawBufferPointer(start: $0, count: $1 * $2)) ?? 0
      })
    try check(ccurl_set_progress_callback(handle) { _, _, _, _, _ in Report.isAbandoned ? 1 : 0 })
    try number(CURLOPT_NOPROGRESS, 0)
    try check(
      ccurl_set_prerequest_callback(handle) { context, address, _, _, _ in
        Transfer.from(context)?.connected(to: address.map { String(cString: $0) } ?? "") ?? CURL_PREREQFUNC_ABORT
      })
  }

  // MARK: Callbacks

  private static let abort = Int(CURL_READFUNC_ABORT)

  private static func from(_ context: UnsafeMutableRawPointer?) -> Transfer? {
    context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
  }

  private func announce() -> Bool {
    if !sent { sent = Report.sent() }
    return sent
  }

  /// Connected, TLS done, nothing of the request written yet.
  private func connected(to address: String) -> Int32 {
    if !usesProxy { network.connected(to: address) }
    // Whatever a resolver said: plain text leaves this machine under no name.
    if target.scheme == "http" && !Target.isLoopbackAddress(address) { return CURL_PREREQFUNC_ABORT }
    if bodyRange.isEmpty && !announce() { return CURL_PREREQFUNC_ABORT }
    return CURL_PREREQFUNC_OK
  }

  private func lend(_ destination: UnsafeMutablePointer<CChar>?, _ room: Int) -> Int {
    let length = min(room, bodyRange.count - bodyOffset)
    guard length > 0, let destination else { return 0 }
    guard announce() else { return Self.abort }
    let start = bodyRange.lowerBound + bodyOffset
    input.withBytes { bytes in
      UnsafeMutableRawBufferPointer(start: destination, count: length).copyMemory(
        from: UnsafeRawBufferPointer(rebasing: bytes[start..<(start + length)]))
    }
    bodyOffset += length
    // What libcurl has taken is needed here no more, and the server may keep it waiting for long.
    if bodyOffset == bodyRange.count { input.wipe() }
    return length
  }

  private func take(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard answerBody.count + bytes.count <= request.answerBodyLimit, answerBody.append(bytes) else {
      overflow = "the server's answer is larger than \(request.answerBodyLimit) bytes"
      return 0
    }
    return bytes.count
  }

  private static let headTooLarge =
    "the head of the server's answer is larger than \(FetchLimits.answerHeaderBytes) bytes"

  private func takeHeader(_ line: UnsafeRawBufferPointer) -> Int {
    guard head.add(line) else {
      overflow = Self.headTooLarge
      return 0
    }
    return line.count
  }
}
