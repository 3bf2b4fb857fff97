import CCurl
import FetchWire

/// How libcurl reaches the server, whom it believes there, and what it sends.
extension Transfer {
  func configureProxy() throws(OptionRefused) {
    // The empty text, unlike none, keeps libcurl from asking the environment.
    try text(CURLOPT_PROXY, usesProxy ? request.proxy ?? "" : "")
    try text(CURLOPT_NOPROXY, "")
    try number(CURLOPT_HTTPPROXYTUNNEL, usesProxy ? 1 : 0)
    try number(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
  }

  func configureTLS() throws(OptionRefused) {
    for (file, folder, blob) in [
      (CURLOPT_CAINFO, CURLOPT_CAPATH, CURLOPT_CAINFO_BLOB),
      (CURLOPT_PROXY_CAINFO, CURLOPT_PROXY_CAPATH, CURLOPT_PROXY_CAINFO_BLOB),
    ] {
      switch trust {
      case .text(let range):
        try text(file, nil)
        try text(folder, nil)
        try self.blob(blob, range, of: input)
      case .folder(let path):
        try text(file, nil)
        try text(folder, path)
      case .libraryDefault: break
      }
    }
    if let certificate {
      // One text holds both.
      for option in [CURLOPT_SSLCERT_BLOB, CURLOPT_SSLKEY_BLOB] { try blob(option, certificate, of: input) }
    }
    try number(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    try number(CURLOPT_PROXY_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    try number(CURLOPT_SSL_VERIFYPEER, 1)
    try number(CURLOPT_SSL_VERIFYHOST, 2)
    try number(CURLOPT_SSL_SESSIONID_CACHE, 0)
  }

  func configureHeaders() throws(OptionRefused) {
    // A name with nothing behind the colon takes libcurl's own field away.
    var lines = ["Accept-Encoding: identity", "Expect:"]
    let given = Set(request.headers.map { $0.name.lowercased() })
    for name in ["Accept", "Content-Type", "User-Agent"] where !given.contains(name.lowercased()) {
      lines.append(name + ":")
    }
    lines += request.headers.map { $0.value.isEmpty ? $0.name + ";" : $0.name + ": " + $0.value }
    var list: UnsafeMutablePointer<curl_slist>?
    for line in lines {
      guard let longer = curl_slist_append(list, line) else { throw OptionRefused(code: CURLE_OUT_OF_MEMORY) }
      list = longer
    }
    try check(ccurl_set_list(handle, CURLOPT_HTTPHEADER, list))
    try number(CURLOPT_HEADEROPT, Int(CURLHEADER_SEPARATE))
    switch request.method {
    case .get: try number(CURLOPT_HTTPGET, 1)
    case .delete:
      // Without a body, whatever libcurl would make of one.
      try number(CURLOPT_HTTPGET, 1)
      try text(CURLOPT_CUSTOMREQUEST, "DELETE")
    case .post:
      try number(CURLOPT_POST, 1)
      try offset(CURLOPT_POSTFIELDSIZE_LARGE, bodyRange.count)
    }
  }
}
