import DevAuthorizationServer
import HTTPTypes
import OAuthProtocol

extension DevRequest {
  /// The head of a request; the body is still to come.
  init(_ head: HTTPTypes.HTTPRequest) {
    self.init(head.method.rawValue, head.path ?? "/")
    // HTTP types keep Host beside the fields.
    if let authority = head.authority { headers.append(OAuthProtocol.HTTPField("Host", authority)) }
    headers += head.headerFields.map { OAuthProtocol.HTTPField($0.name.rawName, $0.value) }
  }
}

extension HTTPTypes.HTTPFields {
  /// Leaves out what cannot be sent and what the connection decides.
  init(_ fields: [OAuthProtocol.HTTPField]) {
    self.init()
    for field in fields {
      guard let name = HTTPTypes.HTTPField.Name(field.name), ![.contentLength, .transferEncoding].contains(name) else {
        continue
      }
      append(HTTPTypes.HTTPField(name: name, value: field.value))
    }
  }
}

extension HTTPTypes.HTTPResponse {
  init(_ response: DevResponse) {
    var fields = HTTPFields(response.headers)
    fields[.contentLength] = String(response.body.count)
    self.init(status: Status(code: response.status), headerFields: fields)
  }
}
