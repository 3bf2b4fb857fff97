extension CurlArguments {
  /// The method of the request that curl makes of them.
  package var method: String {
    if let named = values("request").last { return named }
    if isOn("head") { return "HEAD" }
    if has("upload-file") { return "PUT" }
    return sendsForm && !isOn("get") ? "POST" : "GET"
  }

  /// Whether the same request once more changes no more than the first (RFC 9110 §9.2.2).
  package var isIdempotent: Bool { ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"].contains(method) }

  private var sendsForm: Bool {
    has("data", "data-ascii", "data-binary", "data-raw", "data-urlencode", "json", "form", "form-string")
  }

  /// Why a proof cannot be for the one request that they make; nil: it can.
  package func obstacleToProof(_ urls: [CurlURL]) -> String? {
    if urls.count != 1 || urls.contains(where: \.isGlob) { return "several URLs" }
    if isOn("location") { return "--location" }
    if isOn("follow") { return "--follow" }
    // curl would send the same proof again.
    if has("retry") { return "--retry" }
    // curl may name the file in the URL, or send several.
    let files = values("upload-file")
    if files.count > 1 || files.contains(where: { $0.utf8.contains { "{[".utf8.contains($0) } }) {
      return "--upload-file"
    }
    if !files.isEmpty, urls.contains(where: \.isFolder) { return "--upload-file to a folder" }
    if has("request-target") { return "--request-target" }
    if has("config") { return "--config" }
    if isOn("path-as-is") { return "--path-as-is" }
    return nil
  }
}
