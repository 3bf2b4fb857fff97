extension CurlArguments {
  /// The method of the request that curl makes of them.
  package var method: String {
    if let named = values("request").last { return named }
    if isOn("head") { return "HEAD" }
    if has("upload-file") { return "PUT" }
    return sendsForm && !isOn("get") ? "POST" : "GET"
  }

  private var sendsForm: Bool {
    has("data", "data-ascii", "data-binary", "data-raw", "data-urlencode", "json", "form", "form-string")
  }

  /// Why a proof cannot be for the one request that they make; nil: it can.
  package func obstacleToProof(_ urls: [CurlURL]) -> String? {
    if urls.count != 1 || urls.contains(where: \.isGlob) { return "several URLs" }
    if isOn("location") { return "--location" }
    if has("request-target") { return "--request-target" }
    if has("config") { return "--config" }
    if isOn("path-as-is") { return "--path-as-is" }
    return nil
  }
}
