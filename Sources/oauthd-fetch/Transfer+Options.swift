import CCurl
import FetchWire

/// Each setting of libcurl's by the type that it takes; one that is refused is told, never left out.
extension Transfer {
  func text(_ option: CURLoption, _ value: String?) throws(OptionRefused) {
    try check(ccurl_set_text(handle, option, value))
  }

  func number(_ option: CURLoption, _ value: Int) throws(OptionRefused) {
    try check(ccurl_set_long(handle, option, value))
  }

  func offset(_ option: CURLoption, _ value: Int) throws(OptionRefused) {
    try check(ccurl_set_offset(handle, option, curl_off_t(value)))
  }

  func pointer(_ option: CURLoption, _ value: UnsafeMutableRawPointer) throws(OptionRefused) {
    try check(ccurl_set_pointer(handle, option, value))
  }

  /// The bytes of `input` in `range`, of which libcurl makes a copy.
  func blob(_ option: CURLoption, _ range: Range<Int>, of input: FetchBuffer) throws(OptionRefused) {
    try check(
      input.withBytes { bytes in
        let text = UnsafeRawBufferPointer(rebasing: bytes[range])
        return ccurl_set_blob(handle, option, text.baseAddress, text.count)
      })
  }

  func check(_ code: CURLcode) throws(OptionRefused) {
    guard code == CURLE_OK else { throw OptionRefused(code: code) }
  }
}
