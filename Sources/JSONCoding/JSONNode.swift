/// One value on its way into a text. The containers of an encoder fill it, in any order.
final class JSONNode {
  enum Content {
    /// Written as it stands.
    case literal(String)
    case string(String)
    case array([JSONNode])
    case object([(key: String, value: JSONNode)])
  }

  /// What encodes nothing is an empty object.
  var content = Content.object([])

  func becomeObject() {
    if case .object = content { return }
    content = .object([])
  }

  func becomeArray() {
    if case .array = content { return }
    content = .array([])
  }

  var count: Int {
    switch content {
    case .array(let elements): elements.count
    case .object(let members): members.count
    case .literal, .string: 0
    }
  }

  /// A new one under `key` of this object.
  func member(_ key: String) -> JSONNode {
    let node = JSONNode()
    guard case .object(var members) = content else { return node }
    // Else the list would be copied for each of them.
    content = .literal("")
    members.append((key, node))
    content = .object(members)
    return node
  }

  /// A new one at the end of this array.
  func element() -> JSONNode {
    let node = JSONNode()
    guard case .array(var elements) = content else { return node }
    content = .literal("")
    elements.append(node)
    content = .array(elements)
    return node
  }

  func write(to bytes: inout [UInt8]) {
    switch content {
    case .literal(let text): bytes.append(contentsOf: text.utf8)
    case .string(let text): Self.write(text, to: &bytes)
    case .array(let elements):
      bytes.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        element.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let members):
      bytes.append(UInt8(ascii: "{"))
      for (index, member) in members.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }).enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        Self.write(member.key, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        member.value.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  private static func write(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 { JSONEscape.escaped(byte) { bytes.append($0) } }
    bytes.append(UInt8(ascii: "\""))
  }
}
