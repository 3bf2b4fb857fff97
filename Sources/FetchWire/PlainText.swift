/// Text from a server or a library made fit to show: printable ASCII stays, every other scalar (control, bidirectional,
/// zero-width, any letter that could imitate another) is written as `\u{…}`, and the length is cut at
/// ``FetchLimits/failureTextCharacters``. Applying it twice changes nothing.
package func plainText(_ text: String) -> String {
  var result = ""
  for scalar in text.unicodeScalars {
    let shown =
      (0x20...0x7E).contains(scalar.value) ? String(scalar) : "\\u{" + String(scalar.value, radix: 16) + "}"
    guard result.unicodeScalars.count + shown.unicodeScalars.count <= FetchLimits.failureTextCharacters else { break }
    result += shown
  }
  return result
}
